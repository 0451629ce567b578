// An account as a hosting team has it: 8 servers, 320 instances with labels, and 560 backups.
import { setQuota } from "../../shared/operations/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedDeploy, seedInstance, seedServer } from "../harness/seed.ts";
import { bulkAction, type Things } from "./pages.ts";

const [SERVERS, INSTANCES, BACKUPS] = [8, 320, 560];
const TRADES = ["Bakery", "Bookshop", "Brewery", "Garage", "Nursery", "Pharmacy", "Printing", "Tailor"];
const TOWNS = ["Aachen", "Bremen", "Dresden", "Essen", "Freiburg", "Hamburg", "Kassel", "Leipzig", "Mainz", "Ulm"];

/** With one of its servers, and the instance that has most backups. */
export async function bigAccount(): Promise<{ mine: TestAccount; things: Things }> {
  const mine = await account({ seeded: true });
  await setQuota(mine.id, "server", SERVERS);
  await setQuota(mine.id, "instance", INSTANCES);
  const servers = [];
  for (let n = 0; n < SERVERS; n++) servers.push(await seedServer(mine.id, { name: `erp-${n + 1}` }));
  const instances = [];
  for (let n = 0; n < INSTANCES; n++) {
    const name = `${TRADES[n % TRADES.length]} ${TOWNS[Math.floor(n / TRADES.length) % TOWNS.length]} ${Math.floor(n / 80) + 1}`;
    const labels = { env: n % 5 === 0 ? "staging" : "production" };
    const server_id = servers[n % SERVERS]?.id ?? "";
    instances.push(await seedInstance(mine.id, { server_id, name, labels }));
  }
  const many = instances.slice(-7);
  for (let n = 0; n < BACKUPS; n++) {
    const instance = many[n % many.length];
    if (instance !== undefined) await seedBackup(instance);
  }
  const instance = many[0]?.id ?? "";
  const operation = await bulkAction(mine, instance);
  return {
    mine,
    things: {
      server: servers[0]?.id ?? "",
      instance,
      operation,
      webhook: await mine.webhook(),
      deploy: await seedDeploy({ account_id: mine.id, id: instance }, operation),
    },
  };
}
