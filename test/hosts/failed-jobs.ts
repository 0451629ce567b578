// What the service makes of a job that failed on a machine, which may have sent anything of its log.
import { advance } from "../../shared/hosts/ssh-job.ts";
import type { JobStatus, Machine } from "../../shared/hosts/ssh-script.ts";
import { GiveUp } from "../../shared/platform/task-errors.ts";
import { DEPLOY } from "../../shared/domain/limits.ts";

/** What the operation's error has of the end of such a log: in its message, and what a deploy keeps. */
export async function failJob(text: string, secrets: readonly string[]): Promise<{ message: string; log: string }> {
  const log = Buffer.from(text).subarray(-DEPLOY.logBytes).toString();
  const message = "The Python packages could not be installed";
  const status: JobStatus = { state: "failed", code: "BUILD_FAILED", message, log };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of it
  const machine = { status: () => Promise.resolve(status) } as unknown as Machine;
  const parameters = () => Promise.resolve({});
  const job = { id: "op_1-installPackages", kind: "install_packages", minutes: 1, parameters, secrets };
  const error: unknown = await advance(machine, job).catch((thrown: unknown) => thrown);
  if (!(error instanceof GiveUp)) throw new Error("It did not fail");
  return { message: error.message, log: error.log ?? "" };
}
