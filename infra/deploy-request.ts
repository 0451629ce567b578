// The command line of `npm run deploy`: its options, checked before anything is asked or built.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { BrandError, readBrand } from "./brand.ts";
import { ROOT } from "./built.ts";
import { BUDGET, type Chosen, NONE, findProblem, RECOVER_DAYS } from "./deploy-settings.ts";
import { SETTINGS } from "./settings.ts";
import { type Environment, ENVIRONMENTS } from "../shared/domain/environments.ts";

export const USAGE = `npm run deploy -- test|live [options]

  --alarm-email ADDRESS        receives alarms, once you confirm AWS's email
  --domain NAME                your own domain for the dashboard and API, with --certificate ARN (in us-east-1)
  --other-dashboard URL        the other environment's dashboard, which this one links to
  --brand FILE                 name, logo, color and support link for the dashboard
  --mail-sender ADDRESS        the address that mails come from, whose domain is verified in Amazon SES
  --budget USD                 alarm when the account's costs of a month reach it (${BUDGET}); 0: no budget
  --recover-days DAYS          for how long deleted archives can be recovered (${RECOVER_DAYS})
  --archive-admins ROLES       roles that may delete archives for good, besides the deployment's; live only
  --lock-days DAYS             for how long nobody else can delete a new archive for good (object lock); live only
  --replica-bucket ARN         a bucket in another region or account that archives are copied to
  --secret-replicas REGIONS    regions that have copies of the secrets
  --store-endpoint URL         another S3-compatible store for archives, with --store-bucket NAME and --store-region NAME
  --health-check on            check from three regions whether the API responds, with an alarm in us-east-1
  --requests-per-address N     requests to the API that an address may send in five minutes: a firewall (AWS WAF)
  --archives-moved             the archives have been copied to the store that this deployment changes to
  --yes                        widen permissions without asking

docs/deploy.md has more about each. Options are stored in cdk.json, which you commit, and apply to later deployments; "none" removes one.
You need AWS credentials and a region in your shell. Before the first deployment into an account and region,
run \`npm run cdk -- bootstrap\` once.`;

/** An error that the person who deploys can fix, in a sentence. */
export class DeployError extends Error {}

interface DeployRequest {
  environment: Environment;
  chosen: Record<string, string>;
  archivesMoved: boolean;
  yes: boolean;
}

/** Each option, by its name on the command line. */
const OPTIONS: Readonly<Record<string, keyof Chosen>> = {
  "alarm-email": "alarmEmail",
  domain: "domain",
  certificate: "certificate",
  "other-dashboard": "otherDashboard",
  brand: "brand",
  "mail-sender": "mailSender",
  budget: "budget",
  "recover-days": "recoverDays",
  "archive-admins": "archiveAdmins",
  "lock-days": "lockDays",
  "replica-bucket": "replicaBucket",
  "secret-replicas": "secretReplicas",
  "store-endpoint": "storeEndpoint",
  "store-bucket": "storeBucket",
  "store-region": "storeRegion",
  "health-check": "healthCheck",
  "requests-per-address": "requestsPerAddress",
};

/** Options for an environment whose data is protected: another one's buckets are emptied when it is removed. */
const PROTECTING = ["archive-admins", "lock-days"];

/** Options that another one takes with it when it is removed. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  domain: ["certificate"],
  storeEndpoint: ["storeBucket", "storeRegion"],
};

export function requestIn(args: string[]): DeployRequest {
  const { values, positionals } = parsed(args);
  const [name, ...more] = positionals;
  const environment = ENVIRONMENTS.find((each) => each === name);
  if (environment === undefined || more.length > 0) throw new DeployError(USAGE);
  const options = Object.entries(OPTIONS).flatMap(([option, key]) => {
    const { [option]: value } = values;
    return typeof value === "string" ? [[key, value] as const] : [];
  });
  const protecting = PROTECTING.find((option) => values[option] !== undefined);
  if (protecting !== undefined && !SETTINGS[environment].protectData)
    throw new DeployError(`--${protecting} is for live: the archives of ${environment} are deleted with it.`);
  const removed = options.flatMap(([key, value]) => (value === NONE ? (TOGETHER[key] ?? []) : []));
  const chosen = { ...Object.fromEntries(options), ...Object.fromEntries(removed.map((key) => [key, NONE])) };
  const set = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== NONE));
  const problem = findProblem(set, (key) => `--${Object.keys(OPTIONS).find((option) => OPTIONS[option] === key) ?? key}`);
  if (problem !== undefined) throw new DeployError(problem);
  if (set["brand"] !== undefined) requireBrand(resolve(ROOT, set["brand"]));
  return { environment, chosen, archivesMoved: values["archives-moved"] === true, yes: values["yes"] === true };
}

function requireBrand(path: string): void {
  try {
    readBrand(path);
  } catch (error) {
    throw error instanceof BrandError ? new DeployError(error.message, { cause: error }) : error;
  }
}

function parsed(args: string[]): { values: Record<string, string | boolean | undefined>; positionals: string[] } {
  const flag = { type: "boolean" } as const;
  const texts = Object.fromEntries(Object.keys(OPTIONS).map((option) => [option, { type: "string" } as const]));
  try {
    return parseArgs({ args, options: { ...texts, "archives-moved": flag, yes: flag }, allowPositionals: true });
  } catch (error) {
    throw new DeployError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, { cause: error });
  }
}
