// `npm run deploy -- test|live`: bundles, deploys one environment's stack, and says where its dashboard and API are.
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { bundledSizes, bundleIfChanged } from "./bundle.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { type Access, AwsRefused, concurrencyLimit, concurrencyWarning, findStack, hasCompleted } from "./deployed.ts";
import { type Chosen, forgottenDomain, NONE, withChosen } from "./deploy-settings.ts";
import { type Environment, ENVIRONMENTS, SETTINGS, stackName } from "./settings.ts";

const USAGE = `npm run deploy -- test|live [options]

  --alarm-email ADDRESS   who is told of alarms, after having confirmed it once by mail
  --domain NAME           a name of your own for dashboard and API, with --certificate ARN (in us-east-1)
  --other-dashboard URL   the other environment's dashboard, to which this one's leads
  --yes                   do not ask before permissions are widened

What is given is kept in cdk.json, which you commit, and need not be given again; "none" removes it.
Needs AWS credentials and a region in your shell. The first deployment into an account and region also needs
\`npx cdk bootstrap\` once: docs/deploy.md.`;

/** Something that whoever deploys can mend, in a sentence. */
class DeployError extends Error {}

const ROOT = resolve(import.meta.dirname, "..");

const CDK_JSON = join(ROOT, "cdk.json");

async function deploy(): Promise<void> {
  const { environment, chosen, yes } = request();
  const access = await reachable();
  const before = await findStack(stackName(environment), access).catch(refused);
  const kept = await readFile(CDK_JSON, "utf8");
  const settings = withChosen(kept, environment, chosen);
  const forgotten = forgottenDomain(before?.outputs ?? {}, settings.values, chosen);
  if (forgotten !== undefined) throw new DeployError(forgotten);
  const warning = await concurrencyLimit(access).then(concurrencyWarning, unknownLimit);
  if (warning !== undefined) console.log(warning);

  console.log("Bundling …");
  const [bundles] = await Promise.all([bundleIfChanged(), buildDashboard()]);
  const sizes = Object.values(await bundledSizes(bundles));
  console.log(`${sizes.length} functions, the largest has ${Math.round(Math.max(...sizes) / 1000)} KB`);

  const outputs = join(ROOT, ".local", `deployed-${environment}.json`);
  await mkdir(dirname(outputs), { recursive: true });
  console.log(`Deploying ${stackName(environment)} to ${access.region} …`);
  const run = async (guarded: boolean): Promise<void> => {
    const context = { environment, ...chosen, protected: String(guarded) };
    const contexts = Object.entries(context).flatMap(([name, value]) => ["--context", `${name}=${value}`]);
    const approval = yes ? "never" : "broadening";
    await cdk(["deploy", stackName(environment), ...contexts, "--outputs-file", outputs, "--require-approval", approval]);
  };
  await run(hasCompleted(before));
  if (settings.text !== kept) {
    await writeFile(CDK_JSON, settings.text);
    console.log("What you chose is in cdk.json now: commit it, so that the next deployment has it, too.");
  }
  if (!hasCompleted(before) && SETTINGS[environment].protectData) {
    console.log("The stack is complete. Protecting it, and its table, against deletion …");
    await run(true);
  }
  const { BaseUrl, Dashboard } = await outputsOf(outputs, environment);
  console.log(`\nThe dashboard of ${environment} is at ${Dashboard}, its API at ${BaseUrl}`);
  console.log(
    `Make its first account with: npm run admin -- create-account --name NAME --email EMAIL --environment ${environment}`,
  );
}

const refused = (error: unknown): never => {
  if (!(error instanceof AwsRefused)) throw error;
  throw new DeployError(`${error.message}\nWhoever deploys has to see the stack: docs/deploy.md, "Who may deploy".`, {
    cause: error,
  });
};

const unknownLimit = (error: unknown): string => {
  if (!(error instanceof AwsRefused)) throw error;
  return `How many functions may run at once could not be seen (${error.message}): docs/deploy.md, "What it needs".`;
};

function request(): { environment: Environment; chosen: Chosen; yes: boolean } {
  const { values, positionals } = parsed();
  const [name, ...more] = positionals;
  const environment = ENVIRONMENTS.find((each) => each === name);
  if (environment === undefined || more.length > 0) throw new DeployError(USAGE);
  const alarmEmail = values["alarm-email"];
  if (alarmEmail !== undefined && alarmEmail !== NONE && !/^[^@\s]+@[^@\s]+$/.test(alarmEmail))
    throw new DeployError(`${alarmEmail} is no e-mail address.`);
  const otherDashboard = values["other-dashboard"];
  if (otherDashboard !== undefined && otherDashboard !== NONE && !/^https?:\/\/[^/]/.test(otherDashboard))
    throw new DeployError(`${otherDashboard} is no address of a dashboard.`);
  const { domain, certificate } = values;
  if (domain !== NONE && (domain === undefined) !== (certificate === undefined))
    throw new DeployError("--domain and --certificate are given together.");
  const given = Object.entries({ alarmEmail, otherDashboard, domain, certificate: domain === NONE ? NONE : certificate });
  const chosen = Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return { environment, chosen, yes: values.yes ?? false };
}

function parsed() {
  const options = {
    "alarm-email": { type: "string" },
    domain: { type: "string" },
    certificate: { type: "string" },
    "other-dashboard": { type: "string" },
    yes: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new DeployError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, { cause: error });
  }
}

/** Asks for credentials and region as every AWS tool does, before minutes are spent on what cannot be deployed. */
async function reachable(): Promise<Access> {
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
    return { region: await config.region(), credentials: config.credentials };
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
  if (process.argv.includes("--help")) console.log(USAGE);
  else await deploy();
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
