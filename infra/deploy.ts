// `npm run deploy -- test|live`: bundles, deploys one environment's stack, prints the URLs of its dashboard and API, and migrates
// its data.
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { ROOT } from "./built.ts";
import { bundledSizes, bundleIfChanged } from "./bundle.ts";
import { buildDashboard } from "./dashboard-build.ts";
import {
  type Access,
  AwsError,
  canReserve,
  readConcurrency,
  concurrencyWarning,
  environmentFor,
  findStack,
  hasArchives,
  hasCompleted,
  readIdentity,
} from "./deployed.ts";
import { DeployError, requestIn, USAGE } from "./deploy-request.ts";
import { type Chosen, CHOSEN_NAMES, missingOption, deployedStore, NONE, unreachableKey, withChosen } from "./deploy-settings.ts";
import { continueMigrations, runMigrations } from "./migrate.ts";
import { rollOut } from "./roll-out.ts";
import { EDGE_REGION, edgeStackName, SETTINGS, stackName, tableName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

const CDK_JSON = join(ROOT, "cdk.json");

async function deploy(): Promise<void> {
  const request = requestIn(process.argv.slice(2));
  const { environment, chosen } = request;
  const access = await resolveAccess();
  const { account, arn } = await readIdentity(access).catch(rejected);
  console.log(`Account ${account}, ${access.region}, as ${arn}`);
  const before = await findStack(stackName(environment), access).catch(rejected);
  const outputsBefore = before?.outputs ?? {};
  const { values: options } = withChosen(await readFile(CDK_JSON, "utf8"), environment, chosen);
  const harm =
    missingOption(outputsBefore, options, chosen) ??
    unreachableKey(outputsBefore, SETTINGS[environment].originKey) ??
    (request.archivesMoved ? undefined : await abandonedArchives(outputsBefore, options, access));
  if (harm !== undefined) throw new DeployError(harm);
  const concurrency = await readConcurrency(access).catch(unknownLimit);
  const warning = typeof concurrency === "string" ? concurrency : concurrencyWarning(concurrency);
  if (warning !== undefined) console.log(warning);
  const reserved = typeof concurrency === "string" ? options.reserved !== undefined : canReserve(concurrency, outputsBefore);

  console.log("Bundling …");
  const [bundles] = await Promise.all([bundleIfChanged(), buildDashboard()]);
  const sizes = Object.values(await bundledSizes(bundles));
  console.log(`${sizes.length} functions, the largest is ${Math.round(Math.max(...sizes) / 1000)} KB`);

  const { outputs, unneededEdge } = await rollOut({
    environment,
    options,
    isComplete: hasCompleted(before),
    reserved,
    deployStack: (stack, values) => {
      const region = stack === stackName(environment) ? access.region : EDGE_REGION;
      console.log(`Deploying ${stack} to account ${account}, ${region} …`);
      return deployStack(stack, { environment, options: values, access, yes: request.yes });
    },
    store: async (changes) => {
      const stored = await readFile(CDK_JSON, "utf8");
      const { text, values } = withChosen(stored, environment, { ...chosen, ...changes });
      if (text === stored) return values;
      await writeFile(CDK_JSON, text);
      console.log("Your options are now in cdk.json: commit it, so that the next deployment uses them too.");
      return values;
    },
  });
  if (unneededEdge)
    console.log(`Nothing needs the stack ${edgeStackName(environment)} any more. Delete it:
  aws cloudformation delete-stack --region ${EDGE_REGION} --stack-name ${edgeStackName(environment)}`);
  console.log(`\nDashboard of ${environment}: ${outputs["Dashboard"]}\nAPI: ${outputs["BaseUrl"]}`);
  console.log(
    `Create its first account with: npm run admin -- create-account --name NAME --email EMAIL --environment ${environment}`,
  );

  console.log(`\nMigrations of ${environment} in account ${account}, ${access.region}:`);
  Object.assign(process.env, { TABLE_NAME: tableName(environment), ENVIRONMENT: environment, AWS_REGION: access.region });
  if (!(await runMigrations({ deployed: true }))) throw new DeployError(continueMigrations(`--environment ${environment}`));
  console.log("No migration is missing");
}

interface Deployment {
  environment: Environment;
  options: Chosen;
  access: Access;
  yes: boolean;
}

/** The stack's outputs. Options that are not set are passed on, too: those of cdk.json may be older. */
async function deployStack(stack: string, { environment, options, access, yes }: Deployment): Promise<Record<string, string>> {
  const outputs = join(ROOT, ".local", `deployed-${environment}.json`);
  await mkdir(dirname(outputs), { recursive: true });
  const context = { environment, ...Object.fromEntries(CHOSEN_NAMES.map((name) => [name, options[name] ?? noneValue(name)])) };
  const contexts = Object.entries(context).flatMap(([name, value]) => ["--context", `${name}=${value}`]);
  const approval = yes ? "never" : "broadening";
  const settings = [...contexts, "--outputs-file", outputs, "--require-approval", approval];
  await cdk(["deploy", stack, ...settings], environmentFor(access, process.env));
  const result = z.record(z.string(), z.record(z.string(), z.string())).parse(JSON.parse(await readFile(outputs, "utf8")))[stack];
  if (result === undefined) throw new Error(`${outputs} does not contain ${stack}`);
  return result;
}

const noneValue = (name: string): string => (name === "protected" || name === "reserved" ? "false" : NONE);

/** Why a deployment fails that would leave archives behind: the service would look for them in another store, and find none. */
async function abandonedArchives(outputs: Record<string, string>, options: Chosen, access: Access): Promise<string | undefined> {
  const abandonedStore = deployedStore(outputs, options);
  if (abandonedStore === undefined) return undefined;
  const isBucket = abandonedStore === outputs["BackupBucket"];
  if (isBucket && !(await hasArchives(abandonedStore, access).catch(rejected))) return undefined;
  return `Archives are in ${abandonedStore}, and this deployment would look for them elsewhere: no backup from before could be restored, cloned or drilled.
Copy them as docs/deploy.md says ("Another store for archives"), then repeat the command with --archives-moved.`;
}

const rejected = (error: unknown): never => {
  if (!(error instanceof AwsError)) throw error;
  const [, action = ""] = /^(\w+:\w+) /.exec(error.message) ?? [];
  throw new DeployError(`${error.message}\nYour credentials must allow ${action}: docs/deploy.md, "Who may deploy".`, {
    cause: error,
  });
};

const unknownLimit = (error: unknown): string => {
  if (!(error instanceof AwsError)) throw error;
  return `Could not check how many functions may run at once (${error.message}): docs/deploy.md, "Prerequisites".`;
};

/** Checks for credentials and region as every AWS tool does, before it spends minutes on what it cannot deploy. */
async function resolveAccess(): Promise<Access> {
  const { AWS_PROFILE = "", AWS_DEFAULT_PROFILE = "", AWS_ACCESS_KEY_ID = "" } = process.env;
  // The CDK reads it and the SDK does not: one would deploy to another account than the other has checked.
  if (AWS_DEFAULT_PROFILE !== "" && AWS_PROFILE === "" && AWS_ACCESS_KEY_ID === "")
    throw new DeployError(`AWS_DEFAULT_PROFILE is not enough: set AWS_PROFILE=${AWS_DEFAULT_PROFILE}.`);
  const { config } = new DynamoDBClient({});
  try {
    await config.credentials();
  } catch (cause) {
    throw new DeployError(
      `No AWS credentials found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run \`aws sso login\`.${causeLine(cause)}`,
      { cause },
    );
  }
  try {
    return { region: await config.region(), credentials: config.credentials };
  } catch (cause) {
    throw new DeployError("No AWS region found: set AWS_REGION, for example to eu-central-1.", { cause });
  }
}

/**
 * Returns the error's message on its own line: for example, that a profile asks for a second factor's code, or does not exist.
 */
const causeLine = (error: unknown): string => (error instanceof Error ? `\n${error.message}` : "");

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

try {
  if (process.argv.includes("--help")) console.log(USAGE);
  else await deploy();
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
