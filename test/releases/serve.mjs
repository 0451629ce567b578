// Runs the service of any version of the code on a folder of data, in a process of its own, for the tests of releases. Plain
// JavaScript, because it imports another version's files by their paths: only what it uses of them must stay the same.
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `swapped` names functions, each with the folder of the bundle that runs in place of the version's own. */
const { folder, dataDir, swapped } = JSON.parse(process.argv[2] ?? "{}");
const load = (path) => import(join(folder, path));
const next = () => new Promise((received) => process.once("message", received));

const { bundleIfChanged } = await load("infra/bundle.ts");
const { synthIfChanged } = await load("infra/local/template/synthesized.ts");
const { startCloud, variableOf } = await load("infra/local/cloud.ts");
const { stackName } = await load("infra/settings.ts");
const { demoAccount } = await load("infra/local/demo.ts");

const bundles = await bundleIfChanged();
const mixed = mkdtempSync(join(tmpdir(), "mixed-"));
process.once("exit", () => rmSync(mixed, { recursive: true, force: true }));
const outDir = Object.keys(swapped).length === 0 ? await synthIfChanged(bundles, ["test"]) : await synthesizeMixed();

async function synthesizeMixed() {
  const { synth } = await load("infra/app.ts");
  cpSync(bundles, join(mixed, "bundles"), { recursive: true });
  for (const [id, from] of Object.entries(swapped)) cpSync(from, join(mixed, "bundles", id), { recursive: true });
  await synth(join(mixed, "out"), ["test"], { bundles: join(mixed, "bundles"), checked: false });
  return join(mixed, "out");
}

const cloud = await startCloud({
  outDir,
  dataDir,
  stack: stackName("test"),
  environment: { SANDBOX_TIME_SCALE: "0" },
  timeScale: 0.02,
  schedules: false,
});
process.once("disconnect", () => void cloud.stop().then(() => process.exit()));
const environment = {
  ...cloud.operator.environment,
  AWS_ENDPOINT_URL_DYNAMODB: cloud.databaseUrl,
  TABLE_NAME: cloud.tableName,
  ENVIRONMENT: "test",
  HOSTS_KEY: variableOf(cloud.template, "HOSTS_KEY") ?? "",
};
Object.assign(process.env, environment);
process.send({ bundles, environment });
await next(); // the data is there
const said = [];
if (existsSync(join(folder, "shared/migrations/migrations.ts")))
  await (await load("shared/migrations/migrations.ts")).migrate((line) => said.push(line));
process.send({ ...(await demoAccount(dataDir, cloud.apiUrl, "test")), said });
