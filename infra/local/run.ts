// The service on this machine, from its sources to its first response.
import { join } from "node:path";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import type { Environment } from "../../shared/domain/environments.ts";
import type { DashboardConfig } from "../dashboard-headers.ts";
import { bundleIfChanged } from "../bundle.ts";
import { buildDashboard } from "../dashboard-build.ts";
import { continueMigrations, runMigrations } from "../migrate.ts";
import { stackName } from "../settings.ts";
import { useAccess, writeAccess } from "./access.ts";
import { type Cloud, startCloud, variableOf } from "./cloud.ts";
import { dashboardUrl } from "./dashboard-url.ts";
import { type Demo, demoAccount, demoProvider } from "./demo.ts";
import { docsPage } from "./pages/docs-page.ts";
import { LocalError } from "./errors.ts";
import { collectWhenIdle } from "./idle.ts";
import { liveWelcome, prepareLive, shellWord } from "./live.ts";
import { configurationFrom, mailFrom, storeFrom } from "./operator.ts";
import { serve } from "./pages/pages.ts";
import { dailyBackups } from "./service-backup/schedule.ts";
import { keepFresh, synthIfChanged } from "./template/synthesized.ts";

export interface RunOptions {
  environment: Environment;
  dataDir: string;
  port: number;
  unauthenticatedMax: number;
  /** How long a transaction keeps others from its items, as DynamoDB's do; without it no time. */
  transactionMilliseconds: number | undefined;
  otherDashboard: DashboardConfig["other_dashboard"];
  brand: DashboardConfig["brand"];
}

/** `stopWith` gets the function that stops everything, as soon as there is something to stop; `end` calls it. */
export async function run(
  { environment, dataDir, port, unauthenticatedMax, transactionMilliseconds, otherDashboard, brand }: RunOptions,
  { stopWith, end }: { stopWith: (stop: () => Promise<void>) => void; end: (error?: unknown) => Promise<void> },
): Promise<void> {
  const liveSettings =
    environment === "live" ? { configuration: configurationFrom(process.env), store: storeFrom(process.env) } : {};
  const mail = mailFrom(process.env, dataDir, brand);
  const beginBackups = dailyBackups(dataDir, process.env);
  const [outDir, dashboard] = await timed("Building and synthesizing", () =>
    Promise.all([bundleIfChanged().then((bundles) => synthIfChanged(bundles, [environment])), buildDashboard()]),
  );
  keepFresh(outDir);
  const docs = docsPage(openapiDocument(environment), `http://127.0.0.1:${port}`);
  const late: { storeUrl?: string } = {};
  const fallback = serve({
    dashboard,
    docs,
    environment,
    otherDashboard,
    brand,
    mails: environment === "test" ? mail["MAIL_DIRECTORY"] : undefined,
    storeUrl: () => late.storeUrl ?? "",
  });
  const cloud = await timed("Starting the database, storage, workflows and API", () =>
    startCloud({
      outDir,
      stack: stackName(environment),
      dataDir,
      port,
      unauthenticatedMax,
      transactionMilliseconds,
      fallback,
      environment: {
        DASHBOARD_URL: dashboardUrl(`http://127.0.0.1:${port}`),
        ...(environment === "test" && { LOOPBACK_RECEIVERS: "true" }),
      },
      mail,
      ...liveSettings,
    }),
  );
  late.storeUrl = cloud.storeUrl;
  stopWith(cloud.stop);
  void cloud.databaseExited.then(() =>
    end(new LocalError("The database ended unexpectedly; see the logs in " + join(dataDir, "logs"))),
  );
  const [HOSTS_KEY = "", BACKUP_BUCKET = ""] = ["HOSTS_KEY", "BACKUP_BUCKET"].map((name) => variableOf(cloud.template, name));
  const names = { TABLE_NAME: cloud.tableName, ENVIRONMENT: environment, HOSTS_KEY, BACKUP_BUCKET };
  giveAccess(dataDir, { ...cloud.operator.environment, ...names });
  if (!(await runMigrations())) console.error(continueMigrations(`--data ${shellWord(dataDir)}`));
  const greeting =
    environment === "live"
      ? liveWelcome(await timed("Updating the catalog from the providers", () => prepareLive(cloud)), cloud.apiUrl, dataDir)
      : welcome(await timed("Preparing the demo account", () => prepareDemo(dataDir, cloud, stopWith)));
  beginBackups?.();
  collectWhenIdle();
  const seconds = (performance.now() / 1000).toFixed(1);
  console.log(
    `\nReady after ${seconds} s. Press Ctrl-C to stop. Data is stored in ${dataDir}${environment === "test" ? " (--reset deletes it)" : ""}.\n${greeting}`,
  );
}

/** The demo account, and an identity provider for single sign-on, which stops with everything else. */
async function prepareDemo(
  dataDir: string,
  cloud: Pick<Cloud, "apiUrl" | "stop">,
  stopWith: (stop: () => Promise<void>) => void,
): Promise<Demo> {
  const { demo, stop } = await demoProvider(dataDir, await demoAccount(dataDir, cloud.apiUrl, "test"));
  stopWith(async () => {
    await Promise.all([stop(), cloud.stop()]);
  });
  return demo;
}

/** Gives this process, and the operator's commands, access. */
function giveAccess(dataDir: string, access: Parameters<typeof useAccess>[0]): void {
  useAccess(access);
  writeAccess(dataDir, access);
}

async function timed<T>(title: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  process.stdout.write(`${title} … `);
  const result = await work();
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}

function welcome(demo: Demo): string {
  const auth = `-H 'Authorization: Bearer ${demo.token}'`;
  const server = JSON.stringify({
    name: "erp-1",
    provider: "sandbox",
    region: "eu-central",
    size: "small",
    ssh_key_id: demo.ssh_key_id,
  });
  return `
  Dashboard  ${demo.dashboard_url}
  API        ${demo.base_url}
  API page   ${demo.dashboard_url}docs
  Mail       ${demo.dashboard_url}mail
  Sign in as ${demo.email}  ${demo.password}
  Token      ${demo.token}
  Single sign-on: ${demo.identity_provider?.issuer ?? ""} (docs/people.md)

Paste these to begin:

curl -s ${demo.base_url}/catalog ${auth}
curl -s ${demo.base_url}/servers ${auth} -H 'Content-Type: application/json' -d '${server}'
curl -s ${demo.base_url}/servers ${auth}
`;
}
