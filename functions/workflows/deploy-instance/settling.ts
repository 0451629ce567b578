// How a committed deploy settles: the ERP has the new code, and the machine removes what that replaced.
import { toCommits } from "../../../shared/operations/code/code-checks.ts";
import { recordImage } from "../../../shared/operations/monitoring/images.ts";
import { findCode, recordDeployed, recordRestored } from "../../../shared/records/code.ts";
import { getDeploy, getPlan } from "../../../shared/records/deploys.ts";
import { recordNeutralized } from "../../../shared/records/instances.ts";
import type { JobProgress } from "../../../shared/hosts/host.ts";
import { run, runUndo } from "../../../shared/hosts/index.ts";
import { log } from "../../../shared/platform/log.ts";
import { newestImages } from "../../../shared/providers/images.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import type { Deploy } from "./jobs.ts";

export async function settleCode(work: Deploy): Promise<boolean> {
  const { server, jobId } = work;
  await recordNewCode(work);
  return recordSettled(work, await run(await server(), { id: jobId, kind: "settle_code", ...settling(work) }));
}

/** The new code stays, because the data from before may be gone by now. */
export async function retrySettleCode(work: Deploy): Promise<boolean> {
  const { input, server, jobId, stepJobs, triedEnough } = work;
  await recordNewCode(work);
  try {
    const progress = await runUndo(await server(), { id: jobId, kind: "settle_code", ...settling(work), ends: stepJobs });
    return progress === "down" || (await recordSettled(work, progress));
  } catch (error) {
    if (!(error instanceof GiveUp && triedEnough)) throw error;
    log.error("the data from before a deploy is still on the machine", { instance: input.instance_id, error });
    return true;
  }
}

const settling = ({ operation, input: { instance_id, restore_database: restored } }: Deploy) => ({
  instance_id,
  code_id: operation.id,
  restored,
});

async function recordSettled({ operation, input, instance }: Deploy, progress: JobProgress<"settle_code">): Promise<boolean> {
  // The plan has the versions of the code. Those of the data that came back, only the machine knows.
  if (input.restore_database) await recordRestored(await instance());
  if (progress.ready && progress.result !== null)
    await recordNeutralized(await instance(), operation, progress.result.neutralized);
  return progress.ready;
}

/** The ERP has the new code as soon as the deploy is committed, whatever becomes of what it replaced. */
async function recordNewCode({ operation, input, instance }: Deploy): Promise<void> {
  const { account_id, deploy_id } = input;
  const record = await instance();
  if ((await findCode(record)).deployed?.deploy_id === deploy_id) return;
  const [{ code, packages, select }, deploy] = await Promise.all([
    getPlan(account_id, deploy_id),
    getDeploy(account_id, deploy_id),
  ]);
  const { commits, python_packages: recorded } = deploy;
  // The server's next report says so, too.
  if (deploy.image !== null) await recordImage(record, deploy.image, await newestImages());
  const deployed = {
    deploy_id,
    code_id: operation.id,
    commits: toCommits(code.repositories, commits),
    python_packages: packages ?? recorded,
    whole: typeof select === "string",
  };
  await recordDeployed(record, deployed);
}
