// `npm run deploy -- test|live`: bundles, deploys one environment's stack, and says where its dashboard and API are.
import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { bundledSizes, bundleIfChanged } from "./bundle.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { type Environment, ENVIRONMENTS, stackName } from "./settings.ts";

const USAGE = `npm run deploy -- test|live [options]

  --alarm-email ADDRESS   who is told of alarms, after having confirmed it once by mail
  --domain NAME           a name of your own for dashboard and API, with --certificate ARN (in us-east-1)
  --other-dashboard URL   the other environment's dashboard, to which this one's leads
  --yes                   do not ask before permissions are widened

All but --yes have to be given with every deployment.
Needs AWS credentials and a region in your shell. The first deployment into an account and region also needs
\`npx cdk bootstrap\` once: docs/deploy.md.`;

/** Something that whoever deploys can mend, in a sentence. */
class DeployError extends Error {}

const ROOT = resolve(import.meta.dirname, "..");

async function deploy(): Promise<void> {
  const { environment, context, yes } = request();
  const region = await reachable();

  console.log("Bundling …");
  const [bundles] = await Promise.all([bundleIfChanged(), buildDashboard()]);
  const sizes = Object.values(await bundledSizes(bundles));
  console.log(`${sizes.length} functions, the largest has ${Math.round(Math.max(...sizes) / 1000)} KB`);

  const outputs = join(ROOT, ".local", `deployed-${environment}.json`);
  await mkdir(dirname(outputs), { recursive: true });
  console.log(`Deploying ${stackName(environment)} to ${region} …`);
  const approval = yes ? "never" : "broadening";
  const contexts = Object.entries({ environment, ...context }).flatMap(([name, value]) => ["--context", `${name}=${value}`]);
  await cdk(["deploy", stackName(environment), ...contexts, "--outputs-file", outputs, "--require-approval", approval]);
  const { BaseUrl, Dashboard } = await outputsOf(outputs, environment);
  console.log(`\nThe dashboard of ${environment} is at ${Dashboard}, its API at ${BaseUrl}`);
  console.log(
    `Make its first account with: npm run admin -- create-account --name NAME --email EMAIL --environment ${environment}`,
  );
}

function request(): { environment: Environment; context: Record<string, string>; yes: boolean } {
  const { values, positionals } = parsed();
  const [name, ...more] = positionals;
  const environment = ENVIRONMENTS.find((each) => each === name);
  if (values.help === true || environment === undefined || more.length > 0) throw new DeployError(USAGE);
  const alarmEmail = values["alarm-email"];
  if (alarmEmail !== undefined && !/^[^@\s]+@[^@\s]+$/.test(alarmEmail))
    throw new DeployError(`${alarmEmail} is no e-mail address.`);
  const otherDashboard = values["other-dashboard"];
  if (otherDashboard !== undefined && !/^https?:\/\/[^/]/.test(otherDashboard))
    throw new DeployError(`${otherDashboard} is no address of a dashboard.`);
  const { domain, certificate } = values;
  if ((domain === undefined) !== (certificate === undefined))
    throw new DeployError("--domain and --certificate are given together.");
  const given = Object.entries({ alarmEmail, otherDashboard, domain, certificate });
  const context = Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return { environment, context, yes: values.yes ?? false };
}

function parsed() {
  const options = {
    "alarm-email": { type: "string" },
    domain: { type: "string" },
    certificate: { type: "string" },
    "other-dashboard": { type: "string" },
    yes: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new DeployError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, { cause: error });
  }
}

/** Asks for credentials and region as every AWS tool does, before minutes are spent on what cannot be deployed. */
async function reachable(): Promise<string> {
  const { config } = new DynamoDBClient({});
  try {
    await config.credentials();
  } catch (cause) {
    throw new DeployError(
      "There are no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws sso login`.",
      { cause },
    );
  }
  try {
    return await config.region();
  } catch (cause) {
    throw new DeployError("There is no AWS region: set AWS_REGION, for example to eu-central-1.", { cause });
  }
}

async function cdk(args: string[]): Promise<void> {
  const command = join(dirname(createRequire(import.meta.url).resolve("aws-cdk/package.json")), "bin", "cdk");
  // The CLI runs the app by `node`: this Node, whatever is on the PATH.
  const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = spawn(process.execPath, [command, ...args], { cwd: ROOT, stdio: "inherit", env: { ...process.env, PATH } });
  const code = await new Promise<number | null>((ended, failed) => {
    child.once("exit", ended);
    child.once("error", failed);
  });
  if (code !== 0)
    throw new DeployError("The deployment did not succeed; what is above says why. What was there before goes on working.");
}

async function outputsOf(outputs: string, environment: Environment): Promise<{ BaseUrl: string; Dashboard: string }> {
  const file = z.record(z.string(), z.looseObject({ BaseUrl: z.string(), Dashboard: z.string() }));
  const stack = file.parse(JSON.parse(await readFile(outputs, "utf8")))[stackName(environment)];
  if (stack === undefined) throw new Error(`${outputs} says nothing of ${stackName(environment)}`);
  return stack;
}

try {
  await deploy();
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
