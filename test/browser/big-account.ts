// An account as a hosting team has it: 8 servers that report what they have left, 320 instances with labels, their backups of the
// last nights, and 560 more.
import { concurrently } from "../../shared/platform/concurrently.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedDeploy, seedInstance, seedServer } from "../harness/seed.ts";
import { bulkAction, type Things } from "./pages.ts";

const [SERVERS, INSTANCES, BACKUPS] = [8, 320, 560];
const TRADES = ["Bakery", "Bookshop", "Brewery", "Garage", "Nursery", "Pharmacy", "Printing", "Tailor"];
const TOWNS = ["Aachen", "Bremen", "Dresden", "Essen", "Freiburg", "Hamburg", "Kassel", "Leipzig", "Mainz", "Ulm"];

const GB = 1_000_000_000;
const [NIGHTS, DAY_MS, HOUR_MS] = [3, 86_400_000, 3_600_000];

/** One failed last night, one the night before, and a drill of another one found its archive broken. */
const backUpAll = (instances: readonly InstanceRecord[], night: number): Promise<void> =>
  concurrently(8, [...instances.entries()], async ([n, instance]) => {
    const created_at = new Date(Date.now() - HOUR_MS - night * DAY_MS).toISOString();
    const isFailed = (n === 20 && night === 0) || (n === 40 && night === 1);
    await seedBackup(instance, {
      kind: "scheduled",
      created_at,
      completed_at: isFailed ? null : created_at,
      ...(isFailed
        ? { state: "failed", size_bytes: null, status_reason: "The archive could not be uploaded to the storage" }
        : { size_bytes: 180_000_000 + n * 1_000_000 }),
      ...(n === 60 && night === 1 && { drill: { status: "failed", at: created_at, checks: [] } }),
    });
  });

/** Creates a big account. Returns it with one of its servers, and the instance that has most backups. */
export async function bigAccount(): Promise<{ owner: TestAccount; things: Things }> {
  const owner = await account({ seeded: true });
  await setQuota(owner.id, "server", SERVERS);
  await setQuota(owner.id, "instance", INSTANCES);
  const servers = [];
  for (let n = 0; n < SERVERS; n++) {
    const server = await seedServer(owner.id, { name: `erp-${n + 1}` });
    servers.push(server);
    const tenths = 10 - ((n * 3) % 8);
    await recordReport(server, {
      disk_size_bytes: 40 * GB,
      disk_free_bytes: 4 * GB * tenths,
      memory_free_bytes: (GB / 5) * (20 - tenths),
      certificates: undefined,
    });
  }
  const instances = [];
  for (let n = 0; n < INSTANCES; n++) {
    const name = `${TRADES[n % TRADES.length]} ${TOWNS[Math.floor(n / TRADES.length) % TOWNS.length]} ${Math.floor(n / 80) + 1}`;
    const labels = { env: n % 5 === 0 ? "staging" : "production" };
    const server_id = servers[n % SERVERS]?.id ?? "";
    instances.push(await seedInstance(owner.id, { server_id, name, labels }));
  }
  for (let night = NIGHTS - 1; night > 0; night--) await backUpAll(instances, night);
  const many = instances.slice(-7);
  for (let n = 0; n < BACKUPS; n++) {
    const instance = many[n % many.length];
    if (instance !== undefined) await seedBackup(instance);
  }
  await backUpAll(instances, 0);
  const instance = many[0]?.id ?? "";
  const operation = await bulkAction(owner, instance);
  return {
    owner,
    things: {
      server: servers[0]?.id ?? "",
      instance,
      operation,
      webhook: await owner.webhook(),
      deploy: await seedDeploy({ account_id: owner.id, id: instance }, operation),
    },
  };
}
