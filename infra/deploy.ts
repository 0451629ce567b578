// `npm run deploy -- test|live`: bundles, deploys one environment's stack, and says where its API is.
import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { bundledSizes, bundleIfChanged } from "./bundle.ts";
import { type Environment, ENVIRONMENTS, stackName } from "./settings.ts";

const USAGE = `npm run deploy -- test|live [--alarm-email ADDRESS] [--yes]

  --alarm-email ADDRESS   who is told of alarms; has to be given with every deployment, and confirmed once by mail
  --yes                   do not ask before permissions are widened

Needs AWS credentials and a region in your shell. The first deployment into an account and region also needs
\`npx cdk bootstrap\` once: docs/deploy.md.`;

/** Something that whoever deploys can mend, in a sentence. */
class DeployError extends Error {}

const ROOT = resolve(import.meta.dirname, "..");

async function deploy(): Promise<void> {
  const { environment, alarmEmail, yes } = request();
  const region = await reachable();

  console.log("Bundling …");
  const sizes = Object.values(await bundledSizes(await bundleIfChanged()));
  console.log(`${sizes.length} functions, the largest has ${Math.round(Math.max(...sizes) / 1000)} KB`);

  const outputs = join(ROOT, ".local", `deployed-${environment}.json`);
  await mkdir(dirname(outputs), { recursive: true });
  console.log(`Deploying ${stackName(environment)} to ${region} …`);
  const approval = yes ? "never" : "broadening";
  const context = { environment, ...(alarmEmail === undefined ? {} : { alarmEmail }) };
  const contexts = Object.entries(context).flatMap(([name, value]) => ["--context", `${name}=${value}`]);
  await cdk(["deploy", stackName(environment), ...contexts, "--outputs-file", outputs, "--require-approval", approval]);
  console.log(`\nThe API of ${environment} is at ${await baseUrl(outputs, environment)}`);
  console.log(
    `Make its first account with: npm run admin -- create-account --name NAME --email EMAIL --environment ${environment}`,
  );
}

function request(): { environment: Environment; alarmEmail: string | undefined; yes: boolean } {
  const { values, positionals } = parsed();
  const [name, ...more] = positionals;
  const environment = ENVIRONMENTS.find((each) => each === name);
  if (values.help === true || environment === undefined || more.length > 0) throw new DeployError(USAGE);
  const alarmEmail = values["alarm-email"];
  if (alarmEmail !== undefined && !/^[^@\s]+@[^@\s]+$/.test(alarmEmail))
    throw new DeployError(`${alarmEmail} is no e-mail address.`);
  return { environment, alarmEmail, yes: values.yes ?? false };
}

function parsed() {
  const options = { "alarm-email": { type: "string" }, yes: { type: "boolean" }, help: { type: "boolean" } } as const;
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

async function baseUrl(outputs: string, environment: Environment): Promise<string> {
  const file = z.record(z.string(), z.looseObject({ BaseUrl: z.string() }));
  const stack = file.parse(JSON.parse(await readFile(outputs, "utf8")))[stackName(environment)];
  if (stack === undefined) throw new Error(`${outputs} says nothing of ${stackName(environment)}`);
  return stack.BaseUrl;
}

try {
  await deploy();
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
