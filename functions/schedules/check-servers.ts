// Every minute: asks every server whether it answers. Five failures in a row make it offline, one success active again.
import type { ServerRecord } from "../../shared/data/records.ts";
import { findServer, noteProbe, watchedServers } from "../../shared/data/servers.ts";
import { PROBED } from "../../shared/domain/lifecycle.ts";
import { hostOf } from "../../shared/hosts/index.ts";
import { log } from "../../shared/runtime/log.ts";

/** Servers asked at the same time: a run has a minute, and one that does not answer takes seconds. */
const AT_ONCE = 20;

export async function handler(): Promise<void> {
  log.resetKeys();
  const servers = await watchedServers();
  for (let at = 0; at < servers.length; at += AT_ONCE) {
    const outcomes = await Promise.allSettled(
      servers.slice(at, at + AT_ONCE).map(({ accountId, serverId }) => check(accountId, serverId)),
    );
    for (const outcome of outcomes)
      if (outcome.status === "rejected") log.error("server could not be checked", { error: outcome.reason });
  }
}

async function check(accountId: string, serverId: string): Promise<void> {
  const server = await findServer(accountId, serverId);
  // An operation that holds the server knows better what becomes of it.
  if (server === undefined || server.operation_id !== null || !PROBED.includes(server.state)) return;
  await noteProbe(server, await answers(server));
}

async function answers(server: ServerRecord): Promise<boolean> {
  try {
    return await hostOf(server).probe(server);
  } catch (error) {
    log.warn("probe failed", { server: server.id, error });
    return false;
  }
}
