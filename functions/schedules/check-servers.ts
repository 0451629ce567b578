// Every minute: checks whether each server responds, and records those that went offline or came back, and what they report about themselves.
// Those that came back lose the ERPs whose instances were deleted meanwhile.
import { leftoversOn, type MachineReport, recordReport } from "../../shared/data/host-reports.ts";
import { recordProbe, watchedServers } from "../../shared/data/machines.ts";
import type { ServerRecord, WatchedServer } from "../../shared/data/records.ts";
import { greets, probe, run } from "../../shared/hosts/index.ts";
import { bytesOfId } from "../../shared/domain/ids.ts";
import { HEALTH } from "../../shared/domain/lifecycle.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import { providerOf } from "../../shared/providers/index.ts";
import { concurrentlyLogged } from "../../shared/runtime/concurrently-logged.ts";
import { shuffled } from "../../shared/runtime/shuffled.ts";
import { log } from "../../shared/platform/log.ts";

/** A probe without a response takes 5 s, and a report at most 10: 100 at once cover 1,000 dead servers within the minute. */
const PROBES_AT_ONCE = 100;

export const handler = async (): Promise<void> =>
  concurrentlyLogged(PROBES_AT_ONCE, await watchedServers(), check, ({ server }) => ({
    account: server.account_id,
    server: server.id,
  }));

async function check({ server, watched }: { server: ServerRecord; watched: WatchedServer }): Promise<void> {
  const loggedIn = needsLogin(server, watched, Date.now());
  const { responded, report } = loggedIn ? await probe(server) : { responded: await greets(server) };
  if (!responded) log.warn("server does not respond", { server: server.id, account: server.account_id });
  const reason = goesOffline(server, responded) ? await reasonOf(server) : "";
  await recordProbe(server, { responded, loggedIn, reason });
  if (report === undefined) return;
  await recordReport(server, report);
  await removeLeftover(server, report);
}

/**
 * The job continues without us. As long as it has not succeeded, the machine reports the ERP, and a later check begins the job again, as a new
 * try each hour. One at a time: this function has to look after other servers, too.
 */
async function removeLeftover(server: ServerRecord, report: MachineReport): Promise<void> {
  const [instance_id] = shuffled(await leftoversOn(server, report));
  if (instance_id === undefined) return;
  const about = { account: server.account_id, server: server.id, instance: instance_id };
  try {
    const id = `leftover-${instance_id}-try${Math.floor(Date.now() / 3_600_000)}`;
    await inTime(run(server, { id, kind: "remove_erp", instance_id }));
    log.info("removing an ERP whose instance was deleted while its server did not respond", about);
  } catch (error) {
    log.warn("could not remove an ERP whose instance was deleted while its server did not respond", { ...about, error });
  }
}

const LEFTOVER_SECONDS = 15;

/** A machine that no longer responds holds up nothing. */
const inTime = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    work,
    new Promise((_, reject) => void setTimeout(reject, LEFTOVER_SECONDS * 1000, new Error("It takes too long")).unref()),
  ]);

/** A login takes 5 ms of CPU time, a greeting 0.3: 10,000 logins a minute would keep a function of one vCPU busy for 50 s. */
const MINUTES_BETWEEN_LOGINS = 10;

/**
 * Logs in every minute to a machine that may be in trouble, and every ten minutes to any other, spread by ID: only a login shows that the
 * machine is ours and works, and brings its report. A new machine, and one that has got or lost an instance, need not wait its turn.
 */
function needsLogin({ id, state, failed_probes, instances }: ServerRecord, watched: WatchedServer, at: number): boolean {
  const { last_seen_at, instances_at_login = instances } = watched;
  if (state !== HEALTH.responds || failed_probes > 0) return true;
  if (last_seen_at === null || instances_at_login !== instances) return true;
  return (Math.floor(at / 60_000) + bytesOfId(id).readUInt16BE(14)) % MINUTES_BETWEEN_LOGINS === 0;
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
