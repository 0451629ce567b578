// A server as it is stored, and what its checks note.
import * as z from "zod";
import { Server, SERVER_OBSERVED } from "../../api/servers.ts";
import type { ServerPhase } from "../../domain/lifecycle.ts";
import { openEnum, stored } from "../../data/stored.ts";
import { text, textOrNull, noText, maybeText, count, counter, maybeCount, mark, labels, listed, reason } from "./fields.ts";

export const ServerRecord = stored(Server.omit({ status: true, reason: true, name_unicode: true, ...SERVER_OBSERVED })).extend({
  ...listed,
  labels,
  reason,
  /** Servers of before it was stored have none. */
  ssh_key_name: noText,
  state: openEnum<ServerPhase>(),
  /** The provider's own id of the machine; null until it has given one. */
  machine_id: textOrNull,
  /**
   * The time when an order was last sent, or its response was last unclear: there may be a machine that the provider does not
   * list yet.
   */
  requested_at: noText,
  /** The time when its creation was given up: from then on no machine is ordered for it. */
  orders_closed_at: maybeText,
  /** The port of its SSH server; null until the machine is known. */
  ssh_port: count.nullable().default(null),
  /** The public host keys that it may show, one line each: two while one is being changed for the other. */
  host_keys: z.array(text).default([]),
  /** Instances that are on it: it cannot be deleted while there are any. */
  instances: counter,
  /**
   * Whether it needs a reboot, as its machine last reported, for the filter and the overview's count: what is shown is in the
   * report itself.
   */
  needs_reboot: z.boolean().nullable().default(null),
  failed_probes: counter,
  /** Scheduled backups that run on it. */
  scheduled_backups: counter,
});

export type ServerRecord = z.infer<typeof ServerRecord>;

/**
 * A server whose health is checked. It is in no index, so that a check each minute costs one write unit, and none for each index.
 */
export const WatchedServer = z.object({
  account_id: text,
  server_id: text,
  last_seen_at: noText,
  /** The time when it was last checked, if it did not respond then. */
  silent_at: maybeText,
  /** How many instances were on it at the last login: another number is a reason for the next one. */
  instances_at_login: maybeCount,
  /**
   * The last line of its machine, and when it was first seen. It was lost if no new one came, and reported if a login brought it.
   */
  line: z
    .object({ sequence: count, at: text, lost: z.boolean().default(false), reported: z.boolean().default(false) })
    .nullable()
    .default(null),
  /** How often each ERP that cannot be used was missed in a row, by its instance's ID. */
  misses: z.record(text, count).default({}),
  /** The time when a quota of an instance on it was last changed that its machine does not know yet. */
  quotas_changed_at: maybeText,
  /** Domains that it redirects no longer, which its machine does not know yet: passed on with the quotas. */
  ended_redirects: z.set(text).optional(),
  /** The time when the newest figures that its machine has sent were measured, in seconds since 1970. */
  figures_at: maybeCount,
  /** The last day whose figures are summed up, in days since 1970. */
  figures_day: maybeCount,
  /** Its disk is low: instances on it may be paused at any moment. */
  disk_low: mark,
});

export type WatchedServer = z.infer<typeof WatchedServer>;
