// What is said of a job that failed: what its machine sent of its log may be anything.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redact } from "../../shared/domain/redaction.ts";
import { DEPLOY } from "../../shared/domain/limits.ts";
import { connected } from "../../shared/hosts/ssh-connection.ts";
import { createMachine, type JobStatus } from "../../shared/hosts/ssh-script.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { failJob } from "./failed-jobs.ts";
import { SECRETS } from "./log-secrets.ts";
import { noMachine, startMachine, type TestMachine, until } from "./machine.ts";

test("no part of a secret is shown where the log is cut", async () => {
  const secret = "s3cret-".repeat(100);
  const { message } = await failJob(`first\n${secret}\n${"x".repeat(500)}`, [secret]);
  expect(message).toContain("xxx");
  expect(message).not.toContain("s3cret-");
});

test("no part of a secret is shown where the machine has cut it", async () => {
  const secret = "s3cret-".repeat(2000);
  const sent = `${secret}\nthe end`.slice(-DEPLOY.logBytes);
  const { message, log } = await failJob(sent, [secret]);
  expect([message.includes("the end"), log]).toEqual([true, "the end"]);
  expect(message).not.toContain("s3cret-");
  expect((await failJob(secret.slice(-DEPLOY.logBytes), [secret])).log).toBe("");
});

test("a secret that begins as another one does is removed whole", async () => {
  const secrets = ["c4rrier", "c4rrier-5ecret"];
  expect((await failJob("tried c4rrier-5ecret twice", secrets)).log).toBe("tried … twice");
  expect(redact("tried c4rrier-5ecret twice", secrets)).toBe("tried [redacted] twice");
});

test("what looks like a secret is not shown, and control characters are escapes, whatever the machine has sent", async () => {
  for (const [what, message] of SECRETS) {
    const text = Object.values(await failJob(`Traceback:\n${message}\n`, [])).join("\n");
    expect(text, what).toContain("[redacted]");
    expect(text, what).not.toContain("SECRET");
  }
  const { message, log } = await failJob("\u001b[31mred\u0007 \u202etxt.exe\ttab\n", []);
  expect(log).toBe("\\x1b[31mred\\x07 \\u202etxt.exe\ttab");
  expect(message).toContain(log);
});

test("escapes leave no more of a log than a deploy keeps", async () => {
  const { log } = await failJob(`${"\u0007".repeat(100)}\n`.repeat(80), []);
  expect(log.length).toBeGreaterThan(DEPLOY.logBytes * 0.9);
  expect(Buffer.byteLength(log)).toBeLessThanOrEqual(DEPLOY.logBytes);
});

describe("on the machine", unless(noMachine), () => {
  const [adminPassword, databasePassword, codeSecret] = ["hunter2hunter2", "dbpass-Zq81", "n0t-a-form"];
  let machine: TestMachine;
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    machine.install("ins_1", {});
    writeFileSync(join(machine.root, "instances/ins_1/odoo.conf"), `db_password = ${databasePassword}\n`);
    const log = [
      ...Array.from({ length: 50 }, (_, line) => `line ${line}`),
      ...SECRETS.map(([, message]) => message),
      `the ERP has ${databasePassword}, its administrator ${adminPassword}, its code ${codeSecret}`,
      "GET https://store.example/a.zip?X-Amz-Signature=SECRET",
    ];
    writeFileSync(join(machine.notes, "said"), `${log.join("\n")}\n`);
  });
  afterAll(() => machine.stop());

  const parameters = {
    INSTANCE_ID: "ins_1",
    ADMIN_PASSWORD: adminPassword,
    ENVIRONMENT: JSON.stringify([{ name: "KEY", value: codeSecret, secret: true }]),
  };
  const onMachine = <T>(work: (host: ReturnType<typeof createMachine>) => Promise<T>): Promise<T> =>
    connected(machine.server, async (shell) => work(createMachine(shell)));

  /** What leaves the machine, and nothing of what the job was given stays there. */
  function expectRedacted(id: string, status: JobStatus): void {
    if (status.state !== "failed") throw new Error(`The job is ${status.state}`);
    const lines = status.log.trimEnd().split("\n");
    expect(lines).toHaveLength(DEPLOY.logLines);
    expect(lines.at(-2)).toBe("the ERP has [redacted], its administrator [redacted], its code [redacted]");
    expect(lines.at(-1)).toBe("GET https://store.example/a.zip?[redacted]");
    expect(status.log).not.toContain("SECRET");
    const folder = join(machine.root, "jobs", id);
    for (const name of readdirSync(folder).filter((each) => each !== "log"))
      expect(readFileSync(join(folder, name), "utf8"), name).not.toContain(adminPassword);
  }

  test("a job that fails sends the end of its log without what it was given, and what looks like a secret", async () => {
    machine.docker('case "$*" in *"up -V -d") cat $NOTES/said; exit 1 ;; esac');
    const id = "op_1-startErp";
    await onMachine((host) => host.begin({ id, kind: "start_erp", minutes: 5 }, parameters));
    await until("the job has ended", () => onMachine(async (host) => (await host.status(id)).state !== "running"));
    expectRedacted(id, await onMachine((host) => host.status(id)));
  });

  test("so does one that is ended", async () => {
    machine.docker('case "$*" in *"up -V -d") cat $NOTES/said; sleep 1000 ;; esac');
    const id = "op_2-startErp";
    await onMachine((host) => host.begin({ id, kind: "start_erp", minutes: 5 }, parameters));
    const log = join(machine.root, "jobs", id, "log");
    await until("all of it is in the log", () => readFileSync(log, "utf8").includes("X-Amz-Signature"));
    expectRedacted(id, await onMachine((host) => host.end(id)));
  });
});
