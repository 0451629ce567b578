// Every minute: checks whether each server responds, and records those that went offline or came back.
import { recordProbe, watchedServers } from "../../shared/data/machines.ts";
import type { ServerRecord } from "../../shared/data/records.ts";
import { probe } from "../../shared/hosts/index.ts";
import { HEALTH } from "../../shared/domain/lifecycle.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import { providerOf } from "../../shared/providers/index.ts";
import { concurrently } from "../../shared/runtime/concurrently.ts";
import { log } from "../../shared/platform/log.ts";

/** A probe without a response takes 5 s: 100 at once cover 1,000 dead servers within the minute. */
const PROBES_AT_ONCE = 100;

export const handler = async (): Promise<void> => concurrently(PROBES_AT_ONCE, await watchedServers(), check);

async function check(server: ServerRecord): Promise<void> {
  const responded = await probe(server);
  if (!responded) log.warn("server does not respond", { server: server.id, account: server.account_id });
  await recordProbe(server, responded, goesOffline(server, responded) ? await reasonOf(server) : "");
}

/** The reason is fetched only then, because providers limit requests. */
const goesOffline = ({ state, failed_probes }: ServerRecord, responded: boolean): boolean =>
  !responded && state === HEALTH.responds && failed_probes + 1 >= FAILED_PROBES_MAX;

const SILENT = "The server does not respond to health checks";

/** The provider's reason for a machine that does not respond. */
async function reasonOf(server: ServerRecord): Promise<string> {
  try {
    const provider = await providerOf(server);
    const machine = server.machine_id === null ? undefined : await provider.findMachine(server.machine_id);
    if (machine === undefined) return "The machine no longer exists at the provider";
    return machine.state === "off" ? "The machine is switched off at the provider" : SILENT;
  } catch (error) {
    log.warn("could not find out from the provider what is wrong with a server", { server: server.id, error });
    return SILENT;
  }
}
