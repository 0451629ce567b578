// `npm run admin -- status`: a service at a glance, for whoever runs it, as text or as JSON.
import type { Environment } from "../shared/domain/environments.ts";
import { readServiceStatus, type ServiceStatus } from "../shared/operations/accounts/service-status.ts";
import { type Costs, costsOfMonth } from "./costs.ts";

interface Options {
  environment: Environment;
  json: boolean;
  /** How many the API has got this month. */
  requests: number | undefined;
}

export async function showStatus({ environment, json, requests }: Options): Promise<void> {
  const status = await readServiceStatus();
  const costs = costsOfMonth(environment, { ...sumUse(status), requests });
  if (json)
    return console.log(
      JSON.stringify({ environment, at: new Date().toISOString(), ...status, costs_this_month: costs }, undefined, 2),
    );
  console.log(describeStatus(status));
  console.log(describeCosts(costs, requests));
}

type Account = ServiceStatus["accounts"][number];
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const total = (accounts: readonly Account[], count: (account: Account) => number): number => sum(accounts.map(count));
const countAll = (counts: Readonly<Record<string, number>>): number => sum(Object.values(counts));

const sumUse = ({ accounts }: ServiceStatus) => ({
  servers: total(accounts, ({ servers }) => countAll(servers)),
  archive_bytes: total(accounts, ({ backup_bytes }) => backup_bytes),
  operations: total(accounts, ({ operations_this_month }) => operations_this_month),
  changes: total(accounts, ({ changes_this_month }) => changes_this_month),
});

function describeStatus(status: ServiceStatus): string {
  const { accounts, overdue, queues } = status;
  return [
    `Accounts ${accounts.length}`,
    ...accounts.map(
      (each) =>
        `  ${each.id}  ${each.name}: servers ${describeCounts(each.servers)}; instances ${describeCounts(each.instances)}; ` +
        `backups ${each.backups}, ${gigabytes(each.backup_bytes)}; operations in progress ${each.operations_in_progress}`,
    ),
    "Overdue",
    `  instances without a backup that was due   ${overdue.instances}`,
    `  backup policies not run for 15 minutes    ${overdue.policies}`,
    `  expired backups not deleted for two hours ${overdue.backups}`,
    `  expired uploads not removed for two hours ${overdue.uploads}`,
    `  operations in progress for a day          ${overdue.operations.length}`,
    ...overdue.operations.map(({ account_id, id, created_at }) => `    ${id} of ${account_id}, since ${created_at}`),
    "Queues",
    `  operations in progress                    ${queues.operations}`,
    `  events to deliver                         ${queues.outbox}${queues.outbox === 0 ? "" : `, the oldest for ${queues.outbox_seconds} s`}`,
    `  deliveries due                            ${queues.deliveries}`,
    "Webhooks that fail",
    ...describeWebhooks(accounts),
  ].join("\n");
}

/** Names only what there is: `2 (1 active, 1 offline)`. */
function describeCounts(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0 ? "0" : `${countAll(counts)} (${some.map(([status, count]) => `${count} ${status}`).join(", ")})`;
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

function describeWebhooks(accounts: readonly Account[]): string[] {
  const failing = accounts.flatMap(({ id, webhooks }) =>
    webhooks.filter(({ status, failed }) => status === "failing" || failed > 0).map((webhook) => ({ ...webhook, account: id })),
  );
  if (failing.length === 0) return ["  none"];
  return failing.map(
    ({ account, id, name, status, failing_since, failed }) =>
      `  ${id} of ${account}  ${name}: ${status}${failing_since === null ? "" : ` since ${failing_since}`}, ` +
      `deliveries that failed in 24 hours ${failed}`,
  );
}

const describeCosts = (costs: Costs, requests: number | undefined): string =>
  [
    "Costs of this month until now on AWS, US$ (docs/deploy.md, What it costs)",
    ...Object.entries(costs)
      .filter(([name]) => name !== "requests" || requests !== undefined)
      .map(([name, price]) => `  ${name.padEnd(12)}${price.toFixed(2).padStart(10)}`),
    ...(requests === undefined
      ? ["  without requests, 7.60 a million: give --requests N, the sum of the API's metric Count"]
      : []),
  ].join("\n");
