// `npm run deploy -- test|live`: bundles, deploys one environment's stack, and prints the URLs of its dashboard and API.
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { BrandError, readBrand } from "./brand.ts";
import { ROOT } from "./built.ts";
import { bundledSizes, bundleIfChanged } from "./bundle.ts";
import { buildDashboard } from "./dashboard-build.ts";
import {
  type Access,
  AwsError,
  concurrencyLimit,
  concurrencyWarning,
  environmentFor,
  findStack,
  hasCompleted,
} from "./deployed.ts";
import { type Chosen, forgotten, NONE, unreachableKey, withChosen } from "./deploy-settings.ts";
import { SETTINGS, stackName } from "./settings.ts";
import { type Environment, ENVIRONMENTS } from "../shared/domain/environments.ts";

const USAGE = `npm run deploy -- test|live [options]

  --alarm-email ADDRESS   receives alarms, once you confirm AWS's email
  --domain NAME           your own domain for the dashboard and API, with --certificate ARN (in us-east-1)
  --other-dashboard URL   the other environment's dashboard, which this one links to
  --brand FILE            name, logo, color and support link for the dashboard: docs/deploy.md
  --yes                   widen permissions without asking

Options are stored in cdk.json, which you commit, and apply to later deployments; "none" removes one.
You need AWS credentials and a region in your shell. Before the first deployment into an account and region,
run \`npm run cdk -- bootstrap\` once: docs/deploy.md.`;

/** An error that the person who deploys can fix, in a sentence. */
class DeployError extends Error {}

const CDK_JSON = join(ROOT, "cdk.json");

async function deploy(): Promise<void> {
  const { environment, chosen, yes } = request();
  const access = await reachable();
  const before = await findStack(stackName(environment), access).catch(rejected);
  const kept = await readFile(CDK_JSON, "utf8");
  const settings = withChosen(kept, environment, chosen);
  const outputsBefore = before?.outputs ?? {};
  const harm =
    forgotten(outputsBefore, settings.values, chosen) ?? unreachableKey(outputsBefore, SETTINGS[environment].originKey);
  if (harm !== undefined) throw new DeployError(harm);
  const warning = await concurrencyLimit(access).then(concurrencyWarning, unknownLimit);
  if (warning !== undefined) console.log(warning);

  console.log("Bundling …");
  const [bundles] = await Promise.all([bundleIfChanged(), buildDashboard()]);
  const sizes = Object.values(await bundledSizes(bundles));
  console.log(`${sizes.length} functions, the largest is ${Math.round(Math.max(...sizes) / 1000)} KB`);

  const outputs = join(ROOT, ".local", `deployed-${environment}.json`);
  await mkdir(dirname(outputs), { recursive: true });
  console.log(`Deploying ${stackName(environment)} to ${access.region} …`);
  const run = async (guarded: boolean): Promise<void> => {
    const context = { environment, ...chosen, protected: String(guarded) };
    const contexts = Object.entries(context).flatMap(([name, value]) => ["--context", `${name}=${value}`]);
    const approval = yes ? "never" : "broadening";
    const options = [...contexts, "--outputs-file", outputs, "--require-approval", approval];
    await cdk(["deploy", stackName(environment), ...options], environmentFor(access, process.env));
  };
  await run(hasCompleted(before));
  if (settings.text !== kept) {
    await writeFile(CDK_JSON, settings.text);
    console.log("Your options are now in cdk.json: commit it, so that the next deployment uses them too.");
  }
  if (!hasCompleted(before) && SETTINGS[environment].protectData) {
    console.log("The stack is complete. Protecting it, and its table, against deletion …");
    await run(true);
  }
  const { BaseUrl, Dashboard } = await outputsOf(outputs, environment);
  console.log(`\nDashboard of ${environment}: ${Dashboard}\nAPI: ${BaseUrl}`);
  console.log(
    `Create its first account with: npm run admin -- create-account --name NAME --email EMAIL --environment ${environment}`,
  );
}

const rejected = (error: unknown): never => {
  if (!(error instanceof AwsError)) throw error;
  throw new DeployError(
    `${error.message}\nYour credentials must allow cloudformation:DescribeStacks: docs/deploy.md, "Who may deploy".`,
    {
      cause: error,
    },
  );
};

const unknownLimit = (error: unknown): string => {
  if (!(error instanceof AwsError)) throw error;
  return `Could not check how many functions may run at once (${error.message}): docs/deploy.md, "Prerequisites".`;
};

function request(): { environment: Environment; chosen: Chosen; yes: boolean } {
  const { values, positionals } = parsed();
  const [name, ...more] = positionals;
  const environment = ENVIRONMENTS.find((each) => each === name);
  if (environment === undefined || more.length > 0) throw new DeployError(USAGE);
  const alarmEmail = values["alarm-email"];
  if (alarmEmail !== undefined && alarmEmail !== NONE && !/^[^@\s]+@[^@\s]+$/.test(alarmEmail))
    throw new DeployError(`${alarmEmail} is not an email address.`);
  const otherDashboard = values["other-dashboard"];
  if (otherDashboard !== undefined && otherDashboard !== NONE && !/^https?:\/\/[^/]/.test(otherDashboard))
    throw new DeployError(`${otherDashboard} is not the URL of a dashboard.`);
  const { brand, domain, certificate } = values;
  if (brand !== undefined && brand !== NONE) requireBrand(resolve(ROOT, brand));
  if (domain !== NONE && (domain === undefined) !== (certificate === undefined))
    throw new DeployError("Use --domain and --certificate together.");
  const given = Object.entries({ alarmEmail, otherDashboard, brand, domain, certificate: domain === NONE ? NONE : certificate });
  const chosen = Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return { environment, chosen, yes: values.yes ?? false };
}

function requireBrand(path: string): void {
  try {
    readBrand(path);
  } catch (error) {
    throw error instanceof BrandError ? new DeployError(error.message, { cause: error }) : error;
  }
}

function parsed() {
  const options = {
    "alarm-email": { type: "string" },
    domain: { type: "string" },
    certificate: { type: "string" },
    "other-dashboard": { type: "string" },
    brand: { type: "string" },
    yes: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new DeployError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, { cause: error });
  }
}

/** Checks for credentials and region as every AWS tool does, before it spends minutes on what it cannot deploy. */
async function reachable(): Promise<Access> {
  const { AWS_PROFILE = "", AWS_DEFAULT_PROFILE = "", AWS_ACCESS_KEY_ID = "" } = process.env;
  // The CDK reads it and the SDK does not: one would deploy to another account than the other has checked.
  if (AWS_DEFAULT_PROFILE !== "" && AWS_PROFILE === "" && AWS_ACCESS_KEY_ID === "")
    throw new DeployError(`AWS_DEFAULT_PROFILE is not enough: set AWS_PROFILE=${AWS_DEFAULT_PROFILE}.`);
  const { config } = new DynamoDBClient({});
  try {
    await config.credentials();
  } catch (cause) {
    throw new DeployError(
      `No AWS credentials found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run \`aws sso login\`.${reasonOf(cause)}`,
      { cause },
    );
  }
  try {
    return { region: await config.region(), credentials: config.credentials };
  } catch (cause) {
    throw new DeployError("No AWS region found: set AWS_REGION, for example to eu-central-1.", { cause });
  }
}

/** For example, that a profile asks for a code of a second factor, or does not exist. */
const reasonOf = (error: unknown): string => (error instanceof Error ? `\n${error.message}` : "");

async function cdk(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const command = join(dirname(createRequire(import.meta.url).resolve("aws-cdk/package.json")), "bin", "cdk");
  const child = spawn(process.execPath, [command, ...args], { cwd: ROOT, env, stdio: "inherit" });
  const code = await new Promise<number | null>((ended, failed) => {
    child.once("exit", ended);
    child.once("error", failed);
  });
  if (code !== 0)
    throw new DeployError(
      "The deployment failed; see the output above for the reason. If there was a deployment before, it keeps working.",
    );
}

async function outputsOf(outputs: string, environment: Environment): Promise<{ BaseUrl: string; Dashboard: string }> {
  const file = z.record(z.string(), z.looseObject({ BaseUrl: z.string(), Dashboard: z.string() }));
  const stack = file.parse(JSON.parse(await readFile(outputs, "utf8")))[stackName(environment)];
  if (stack === undefined) throw new Error(`${outputs} does not contain ${stackName(environment)}`);
  return stack;
}

try {
  if (process.argv.includes("--help")) console.log(USAGE);
  else await deploy();
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
