// What is said of a job that failed: what its machine sent of its log may be anything.
import { expect, test } from "vitest";
import { advance } from "../../shared/hosts/ssh-job.ts";
import type { JobStatus, Machine } from "../../shared/hosts/ssh-script.ts";
import { redact } from "../../shared/domain/redaction.ts";
import { GiveUp } from "../../shared/platform/task-errors.ts";
import { DEPLOY } from "../../shared/domain/limits.ts";

const MESSAGE = "The Python packages could not be installed";

/** What the operation's error has of such a log: in its message, and what a deploy keeps. */
async function failed(log: string, secrets: readonly string[]): Promise<{ message: string; log: string }> {
  const status: JobStatus = { state: "failed", code: "BUILD_FAILED", message: MESSAGE, log };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of it
  const machine = { status: () => Promise.resolve(status) } as unknown as Machine;
  const parameters = () => Promise.resolve({});
  const job = { id: "op_1-installPackages", kind: "install_packages", minutes: 1, parameters, secrets };
  const error: unknown = await advance(machine, job).catch((thrown: unknown) => thrown);
  if (!(error instanceof GiveUp)) throw new Error("It did not fail");
  return { message: error.message, log: error.log ?? "" };
}

test("no part of a secret is shown where the log is cut", async () => {
  const secret = "s3cret-".repeat(100);
  const { message } = await failed(`first\n${secret}\n${"x".repeat(500)}`, [secret]);
  expect(message).toContain("xxx");
  expect(message).not.toContain("s3cret-");
});

test("no part of a secret is shown where the machine has cut it", async () => {
  const secret = "s3cret-".repeat(2000);
  const sent = `${secret}\nthe end`.slice(-DEPLOY.logBytes);
  const { message, log } = await failed(sent, [secret]);
  expect([message.includes("the end"), log]).toEqual([true, "the end"]);
  expect(message).not.toContain("s3cret-");
  expect((await failed(secret.slice(-DEPLOY.logBytes), [secret])).log).toBe("");
});

test("a secret that begins as another one does is removed whole", async () => {
  const secrets = ["c4rrier", "c4rrier-5ecret"];
  expect((await failed("tried c4rrier-5ecret twice", secrets)).log).toBe("tried … twice");
  expect(redact("tried c4rrier-5ecret twice", secrets)).toBe("tried [redacted] twice");
});
