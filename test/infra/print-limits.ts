// `npm run limits`: what each stack has used of each of AWS's limits, and what is left.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synth } from "../../infra/app.ts";
import { bundleIfChanged } from "../../infra/bundle.ts";
import { buildDashboard } from "../../infra/dashboard-build.ts";
import { stackName } from "../../infra/settings.ts";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { largest, LIMITS, measured } from "./limits.ts";

const [bundles, dashboard] = await Promise.all([bundleIfChanged(), buildDashboard()]);
const outdir = mkdtempSync(join(tmpdir(), "erp-limits-"));
await synth(outdir, ENVIRONMENTS, { bundles, dashboard, checked: false });
for (const environment of ENVIRONMENTS) {
  const stack = measured(outdir, stackName(environment));
  const rows = LIMITS.map((limit) => {
    const [subject = "nothing", used = 0] = largest(limit, stack) ?? [];
    const { name, max, unit } = limit;
    const share = `${Math.round((100 * used) / max)} %`.padStart(5);
    return `${share}  ${name.padEnd(44)} ${used} of ${max} ${unit}, ${max - used} left (${subject.slice(0, 50)})`;
  });
  console.log(`${stackName(environment)}\n${rows.join("\n")}\n`);
}
rmSync(outdir, { recursive: true });
process.exit(0); // the channel to whoever started this would keep the process alive
