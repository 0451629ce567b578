// A machine with one ERP, and the functions of its script, for tests of what instances share.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Job } from "../../shared/hosts/host.ts";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { ownAws } from "./cloud.ts";
import { startMachine, type TestMachine, until } from "./machine.ts";

export let machine: TestMachine;

/** Starts a machine before the tests of a suite, and leaves nothing of one test to the next. */
export function startHouse(): void {
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    machine.install("ins_1", {});
  });
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
  });
  afterAll(() => machine.stop());
}

export const note = (name: string): string => join(machine.notes, name);
export const fact = (name: string): string => join(machine.root, "instances/ins_1", name);
export const restart = (id: string): Job<"restart_erp"> => ({ id, kind: "restart_erp", instance_id: "ins_1" });
export const readyInTime = (job: Job): Promise<void> =>
  until(`${job.id} is ready`, async () => (await ssh.run(machine.server, job)).ready);
export async function failure(job: Job): Promise<unknown> {
  let thrown: unknown;
  await until(`${job.id} fails`, async () => {
    thrown = await ssh.run(machine.server, job).then(
      () => undefined,
      (error: unknown) => error,
    );
    return thrown !== undefined;
  });
  return thrown;
}

/** The output of the script's functions, with stand-ins for the commands that they call. */
export function call(code: string, environment: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "script-"));
  try {
    writeFileSync(join(folder, "script.sh"), hostScript());
    chmodSync(join(folder, "script.sh"), 0o700);
    const { stdout, stderr, status } = spawnSync(
      "bash",
      ["-c", `source "$0" probe >/dev/null; ${code}`, join(folder, "script.sh")],
      {
        encoding: "utf8",
        env: { ...process.env, ...environment },
      },
    );
    if (status !== 0) throw new Error(stderr || `It ended with ${status}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
