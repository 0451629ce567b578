// What the operator wants to know of a service at a glance: how much there is, what is overdue, what waits, and which deliveries
// fail.
import * as z from "zod";
import { listQuery } from "../../api/fields.ts";
import { OUTBOX_SHARDS } from "../../data/codes.ts";
import { keys, protectionFilter } from "../../data/keys.ts";
import { listPage } from "../../data/lists.ts";
import { overviewCounts } from "../../data/overview-shards.ts";
import { queryAll } from "../../data/table.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../domain/durations.ts";
import { timeOfId } from "../../domain/ids.ts";
import { DELIVERY, INSTANCE_STATUSES, OPEN_STATUSES, SERVER_STATUSES } from "../../domain/lifecycle.ts";
import { concurrently } from "../../platform/concurrently.ts";
import { expiredBackups } from "../../records/backups.ts";
import { dueNow, listDeliveries } from "../../records/deliveries.ts";
import { openOperations } from "../../records/operations.ts";
import { duePolicies } from "../../records/policies.ts";
import type { AccountRecord } from "../../records/schemas/account.ts";
import { expiredUploads } from "../../records/uploads.ts";
import { allWebhooks, showWebhooks } from "../../records/webhooks.ts";
import { allAccounts } from "./operator.ts";

const ACCOUNTS_AT_ONCE = 4;
/** Schedules that work all of it off run each minute, or each hour: later than that, they do not keep up. */
const LATE_AFTER = { policies: 15 * MINUTE_MS, backups: 2 * HOUR_MS, uploads: 2 * HOUR_MS, operations: DAY_MS } as const;

const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
const firstOfMonth = (): string => `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`;

type Counts = Record<string, number>;

interface AccountStatus {
  id: string;
  name: string;
  servers: Counts;
  instances: Counts;
  backups: number;
  backup_bytes: number;
  operations_in_progress: number;
  instances_overdue: number;
  operations_this_month: number;
  /** What people, tokens and schedules asked for. */
  changes_this_month: number;
  /** Those that fail or are disabled, and those with a delivery that failed for good in the last 24 hours. */
  webhooks: { id: string; name: string; status: string; failing_since: string | null; due: number; failed: number }[];
}

export type ServiceStatus = Awaited<ReturnType<typeof readServiceStatus>>;

export async function readServiceStatus() {
  const accounts: AccountStatus[] = [];
  await concurrently(ACCOUNTS_AT_ONCE, await allAccounts(), async (account) => void accounts.push(await readAccount(account)));
  const operations = await openOperations();
  const outbox = (
    await Promise.all(Array.from({ length: OUTBOX_SHARDS }, (_, shard) => queryAll(keys.outboxShard(shard))))
  ).flatMap((items) => items.map((item) => timeOfId(z.string().parse(item["sk"]))));
  return {
    accounts: accounts.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    overdue: {
      /** Instances without a backup since one was due two hours ago. */
      instances: accounts.reduce((sum, { instances_overdue }) => sum + instances_overdue, 0),
      /** Policies whose run was due 15 minutes ago. */
      policies: (await duePolicies(ago(LATE_AFTER.policies))).length,
      /** Backups that expired two hours ago. */
      backups: (await expiredBackups(ago(LATE_AFTER.backups))).length,
      uploads: (await expiredUploads()).filter(({ sk }) => sk < ago(LATE_AFTER.uploads)).length,
      /** Operations that began a day ago. */
      operations: operations
        .filter(({ createdAt }) => createdAt < ago(LATE_AFTER.operations))
        .map(({ accountId, id, createdAt }) => ({ account_id: accountId, id, created_at: createdAt })),
    },
    queues: {
      operations: operations.length,
      outbox: outbox.length,
      /** How long the oldest event has waited for its deliveries to be recorded. */
      outbox_seconds: outbox.length === 0 ? 0 : Math.round((Date.now() - Math.min(...outbox)) / 1000),
      deliveries: accounts.flatMap(({ webhooks }) => webhooks).reduce((sum, { due }) => sum + due, 0),
    },
  };
}

const NEWEST = listQuery({}).parse({ per_page: "1" });

async function readAccount(account: AccountRecord): Promise<AccountStatus> {
  const { id } = account;
  const counts = await overviewCounts(id);
  const countByStatus = (kind: "server" | "instance", statuses: readonly string[]): Counts =>
    Object.fromEntries(statuses.map((status) => [status, counts[`${kind}#${status}`] ?? 0]));
  const countThisMonth = async (kind: "operation" | "event"): Promise<number> => {
    const page = { ...NEWEST, created_after: firstOfMonth() };
    return (await listPage({ kind, accountId: id, schema: z.object({}) }, page)).meta.total;
  };
  const webhooks = await showWebhooks(id, await allWebhooks(id));
  const listed = webhooks.map(async ({ id: webhookId, name, status, failing_since }) => {
    const failed = { ...NEWEST, status: DELIVERY.failed, created_after: ago(DAY_MS) };
    return {
      id: webhookId,
      name,
      status,
      failing_since,
      due: (await dueNow({ account_id: id, webhook_id: webhookId }, DUE_COUNTED)).length,
      failed: (await listDeliveries(id, webhookId, failed)).meta.total,
    };
  });
  return {
    id,
    name: account.account_name,
    servers: countByStatus("server", SERVER_STATUSES),
    instances: countByStatus("instance", INSTANCE_STATUSES),
    backups: account.used_backup,
    backup_bytes: account.used_backup_bytes,
    operations_in_progress: OPEN_STATUSES.reduce((sum, status) => sum + (counts[`operation#${status}`] ?? 0), 0),
    instances_overdue: counts[`instance#${protectionFilter("overdue")}`] ?? 0,
    operations_this_month: await countThisMonth("operation"),
    changes_this_month: await countThisMonth("event"),
    webhooks: await Promise.all(listed),
  };
}

/** More of a webhook are not counted. */
const DUE_COUNTED = 1_000;
