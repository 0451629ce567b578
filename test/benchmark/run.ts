// `npm run bench`: what starts and requests cost, as ratios within one run, because machines differ and are noisy. Writes
// docs/performance.md.
import { cpus } from "node:os";
import { join } from "node:path";
import { bundleIfChanged } from "../../infra/bundle.ts";
import { ROOT } from "../../infra/built.ts";
import { writeTables } from "./figures.ts";
import { checks } from "./checks.ts";
import { deliveries } from "./deliveries.ts";
import { night } from "./night.ts";
import { service } from "./service.ts";
import { starts } from "./starts.ts";

// With `-- --policies` it simulates a night of 10,000 backup policies instead, with `-- --checks` it measures the health check of
// servers, and with `-- --webhooks` deliveries.
const policies = process.argv.includes("--policies");
const healthChecks = process.argv.includes("--checks");
const webhooks = process.argv.includes("--webhooks");
const PAGE = join(ROOT, "docs", policies || healthChecks || webhooks ? "scale.md" : "performance.md");

const memory = process.argv.includes("--memory");
/** Four instances on each server. */
const NIGHT = { accounts: 100, serversOfAccount: 25, instancesOfServer: 4, backupsOfInstance: 1, backupMinutes: 5, sample: 20 };
async function measured(): Promise<string[]> {
  if (policies) return [await night(NIGHT)];
  if (webhooks) return [await deliveries()];
  return healthChecks ? [await checks()] : [await starts(await bundleIfChanged()), await service({ memory })];
}
const tables = await measured();
const [first] = cpus();
const date = new Date().toLocaleDateString("en-US", { dateStyle: "long" });
const where = `Measured on ${date} with Node ${process.version}, ${cpus().length} × ${first?.model ?? "unknown"}:`;
const option = healthChecks ? " -- --checks" : webhooks ? " -- --webhooks" : "";
writeTables(PAGE, `npm run bench${option}`, [where, ...tables]);
process.exit(0); // the channel to whoever started this would keep the process alive
