// What the account already has, checked before a deployment: which one it is, the stack, its archives, and its limit of
// concurrent functions. Signed calls, because no SDK client of ours calls these services, and the CDK's command line reports none
// of it.
import { SignatureV4 } from "@smithy/signature-v4";
import * as z from "zod";
import { RESERVED_MAX } from "./settings.ts";
import { Sha256 } from "../shared/storage/presign.ts";

export interface Access {
  region: string;
  credentials: ConstructorParameters<typeof SignatureV4>[0]["credentials"];
}

const KEYS = ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"].flatMap((name) => [`AWS_${name}`, `AMAZON_${name}`]);

/**
 * The environment in which the CDK deploys where the SDK has looked. The CDK alone would prefer AWS_DEFAULT_REGION to a profile's
 * region, and keys to AWS_PROFILE: it could deploy to another account than the one whose stack was checked.
 */
export function environmentFor({ region }: Access, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unused = (env["AWS_PROFILE"] ?? "") === "" ? [] : KEYS;
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !unused.includes(name))), AWS_REGION: region };
}

interface DeployedStack {
  status: string;
  outputs: Readonly<Record<string, string>>;
}

/** AWS rejected a call, usually because the person who deploys lacks the permission. */
export class AwsError extends Error {}

interface Identity {
  account: string;
  /** Who deploys. */
  arn: string;
}

/** Everyone may ask this. */
export async function readIdentity(access: Access): Promise<Identity> {
  const { status, text } = await ask("sts", "/", { Action: "GetCallerIdentity", Version: "2011-06-15" }, access);
  const [, account] = /<Account>(\d+)<\/Account>/.exec(text) ?? [];
  const [, arn] = /<Arn>([^<]*)<\/Arn>/.exec(text) ?? [];
  if (status !== 200 || account === undefined || arn === undefined)
    throw new AwsError(`sts:GetCallerIdentity returned ${status}: ${text.slice(0, 300)}`);
  return { account, arn: decoded(arn) };
}

/** Whether the bucket has at least one archive; old versions do not count. */
export async function hasArchives(bucket: string, access: Access): Promise<boolean> {
  const { status, text } = await ask("s3", `/${bucket}`, { "list-type": "2", "max-keys": "1" }, access);
  if (status === 404) return false;
  if (status !== 200) throw new AwsError(`s3:ListBucket returned ${status}: ${text.slice(0, 300)}`);
  return text.includes("<Contents>");
}

/** Undefined if there is no such stack. */
export async function findStack(name: string, access: Access): Promise<DeployedStack | undefined> {
  const query = { Action: "DescribeStacks", Version: "2010-05-15", StackName: name };
  const { status, text } = await ask("cloudformation", "/", query, access);
  if (status === 400 && text.includes("does not exist")) return undefined;
  if (status !== 200) throw new AwsError(`cloudformation:DescribeStacks returned ${status}: ${text.slice(0, 300)}`);
  const outputs = [...text.matchAll(/<OutputKey>(.*?)<\/OutputKey>\s*<OutputValue>(.*?)<\/OutputValue>/gs)];
  return {
    status: /<StackStatus>(\w+)<\/StackStatus>/.exec(text)?.[1] ?? "UNKNOWN",
    outputs: Object.fromEntries(outputs.map(([, key = "", value = ""]) => [key, decoded(value)])),
  };
}

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" };

/** The text of an XML element. */
const decoded = (xml: string): string => xml.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);

/** Whether its creation has succeeded once. Later failures roll back to a working stack, never to none. */
export const hasCompleted = (stack: DeployedStack | undefined): boolean =>
  stack !== undefined && /^(CREATE_COMPLETE$|UPDATE_|IMPORT_)/.test(stack.status);

const AccountSettings = z.object({
  AccountLimit: z.object({ ConcurrentExecutions: z.number(), UnreservedConcurrentExecutions: z.number() }),
});

interface Concurrency {
  /** How many functions may run concurrently in the account and region, for all stacks together. */
  limit: number;
  /** How many of them are reserved for no function. */
  unreserved: number;
}

export async function readConcurrency(access: Access): Promise<Concurrency> {
  const { status, text } = await ask("lambda", "/2016-08-19/account-settings", {}, access);
  if (status !== 200) throw new AwsError(`lambda:GetAccountSettings returned ${status}: ${text.slice(0, 300)}`);
  const { ConcurrentExecutions, UnreservedConcurrentExecutions } = AccountSettings.parse(JSON.parse(text)).AccountLimit;
  return { limit: ConcurrentExecutions, unreserved: UnreservedConcurrentExecutions };
}

/** AWS rejects a reservation that leaves fewer than this many functions to everything else. */
const UNRESERVED_MIN = 100;

/** Whether a stack with these outputs may have its reservation: what it has already is not reserved twice. */
export const canReserve = ({ unreserved }: Concurrency, { ReservedConcurrency }: DeployedStack["outputs"] = {}): boolean =>
  unreserved + Number(ReservedConcurrency ?? 0) - RESERVED_MAX >= UNRESERVED_MIN;

/**
 * A request takes two functions, its authorizer and its own, and the dashboard sends several concurrently; a wait for an
 * operation holds one for up to 20 seconds, and an operation in progress one for each running step. AWS gives new accounts 10,
 * and 1,000 on request.
 */
const CONCURRENCY_WANTED = 1000;
const CONCURRENCY_MIN = 100;

export const concurrencyWarning = ({ limit }: Concurrency): string | undefined =>
  limit >= CONCURRENCY_MIN
    ? undefined
    : `Only ${limit} functions may run at once in this account and region: a dashboard and a few waits use that up, and every further request
gets 503. Ask AWS for ${CONCURRENCY_WANTED}:
  aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${CONCURRENCY_WANTED}`;

const ASK_SECONDS = 20;

async function ask(
  service: "cloudformation" | "lambda" | "s3" | "sts",
  path: string,
  query: Record<string, string>,
  { region, credentials }: Access,
): Promise<{ status: number; text: string }> {
  const { AWS_ENDPOINT_URL } = process.env;
  const endpoint = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? AWS_ENDPOINT_URL;
  const url = new URL(path, endpoint ?? `https://${service}.${region}.amazonaws.com`);
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  const { headers } = await signer.sign({
    method: "GET",
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query,
    headers: { host: url.host },
  });
  url.search = new URLSearchParams(query).toString();
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(ASK_SECONDS * 1000) });
  return { status: response.status, text: await response.text() };
}
