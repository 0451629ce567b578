// Once a minute: asks every server whether it answers, and notes those that stopped or began again to.
import { noteProbe, watchedServers } from "../../shared/data/machines.ts";
import type { ServerRecord } from "../../shared/data/records.ts";
import { probe } from "../../shared/hosts/index.ts";
import { providerOf } from "../../shared/providers/index.ts";
import { concurrently } from "../../shared/runtime/concurrently.ts";
import { log } from "../../shared/runtime/log.ts";

/** A probe that gets no answer takes seconds: 50 at once keep 1,000 dead servers within the minute. */
const PROBES_AT_ONCE = 50;

export const handler = async (): Promise<void> => concurrently(PROBES_AT_ONCE, await watchedServers(), check);

async function check(server: ServerRecord): Promise<void> {
  const answered = await probe(server);
  if (!answered) log.warn("server does not answer", { server: server.id, account: server.account_id });
  await noteProbe(server, answered, answered ? "" : await reasonOf(server));
}

/** What the provider says of a machine that does not answer. */
async function reasonOf(server: ServerRecord): Promise<string> {
  const machine = server.machine_id === null ? undefined : await providerOf(server).findMachine(server.machine_id);
  if (machine === undefined) return "The provider does not have the machine any more";
  return machine.state === "off" ? "The machine is switched off at the provider" : "The machine does not answer health checks";
}
