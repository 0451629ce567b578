// The jobs that several workflows have, begun and asked for under their task's own id.
import type { InstanceRecord, ServerRecord } from "../data/records.ts";
import type { Job, JobResults } from "./host.ts";
import { hostOf } from "./index.ts";

interface OnServer {
  server: () => Promise<ServerRecord>;
  jobId: string;
}
interface OnInstance extends OnServer {
  instance: () => Promise<InstanceRecord>;
}

/** The job's result once it is ready, before that undefined. */
export async function runJob<J extends Job>({ server, jobId }: OnServer, job: J): Promise<JobResults[J["kind"]] | undefined> {
  const machine = await server();
  return hostOf(machine).run(machine, jobId, job);
}

export async function isHealthy(work: OnInstance): Promise<boolean> {
  return (await runJob(work, { kind: "health", instance_id: (await work.instance()).id })) !== undefined;
}

/** Removes the ERP of an instance, if there is one. */
export async function isRemoved(work: OnInstance): Promise<boolean> {
  return (await runJob(work, { kind: "remove", instance_id: (await work.instance()).id })) !== undefined;
}
