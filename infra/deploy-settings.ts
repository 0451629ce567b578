// The operator's options for an environment, stored in cdk.json and so in the repository: a forgotten option changes nothing.
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Environment } from "../shared/domain/environments.ts";

/** This value removes the option. */
export const NONE = "none";

/** Accepts a number as text, as the CDK's command line passes it on. */
const wholeNumber = (min: number, max: number) =>
  z.string().refine((text) => /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max, `must be ${min} to ${max}`);

/** Checks that the text has no path, and nothing that would mean something in the dashboard's content security policy. */
const isOrigin = (text: string): boolean => URL.canParse(text) && [text, `${text}/`].includes(`${new URL(text).origin}/`);

export const Chosen = z.strictObject({
  alarmEmail: z
    .string()
    .regex(/^[^@\s]+@[^@\s]+$/, "must be an email address")
    .optional(),
  otherDashboard: z
    .string()
    .regex(/^https?:\/\/[^/]/, "must be the URL of a dashboard")
    .optional(),
  brand: z.string().optional(),
  /** The address that mails come from. */
  mailSender: z
    .string()
    .regex(/^[\w.+-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+$/, "must be an email address with a domain in lowercase letters")
    .optional(),
  domain: z.string().optional(),
  certificate: z.string().optional(),
  /** The number of days for which a deleted archive can be recovered. */
  recoverDays: wholeNumber(1, 365).optional(),
  /** Another S3-compatible store for archives; these three are given together. */
  storeEndpoint: z
    .string()
    .refine((text) => text.startsWith("https://") && isOrigin(text), "must be https:// and a host")
    .optional(),
  storeBucket: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{2,62}$/, "must be the name of a bucket")
    .optional(),
  storeRegion: z
    .string()
    .regex(/^[a-z0-9-]+$/, "must be the name of a region")
    .optional(),
  /**
   * Roles of this account that may delete archives for good, besides the deployment's; also by pattern, because those of people
   * have random ends.
   */
  archiveAdmins: z
    .string()
    .regex(/^[\w+=.@/*-]+(,[\w+=.@/*-]+)*$/, "must be names of roles, separated by commas")
    .refine((names) => names.split(",").every((name) => /^[^*/].{2}/.test(name)), "must not stand for every role")
    .optional(),
  /**
   * The number of days for which nobody else can delete a new archive for good; 0 locks no new ones. Once set, it cannot be
   * removed.
   */
  lockDays: wholeNumber(0, 365).optional(),
  /** The bucket to which archives are copied, in another region or account. */
  replicaBucket: z
    .string()
    .regex(/^arn:aws:s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the ARN of a bucket")
    .optional(),
  /** Regions in which the secrets have replicas. */
  secretReplicas: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d(,[a-z]{2}(-[a-z]+)+-\d)*$/, "must be names of regions, separated by commas")
    .optional(),
  /** The account's costs of a month, in US$, that raise an alarm; 0: none. */
  budget: wholeNumber(0, 10_000_000).optional(),
  healthCheck: z.literal("on", "must be on or none").optional(),
  /** Requests to the API that an address may send in five minutes. */
  requestsPerAddress: wholeNumber(100, 1_000_000_000).optional(),

  // What follows `npm run deploy` writes itself, so that `npm run cdk -- deploy` leaves it as it is.

  /** The stack has been created, and what holds data is protected against deletion. */
  protected: z.literal("true").optional(),
  /** The account allows enough concurrent functions to reserve some for schedules. */
  reserved: z.literal("true").optional(),
  /** The host that the edge stack checks. */
  front: z.string().optional(),
  /** The ARN of the edge stack's firewall. */
  webAcl: z.string().optional(),
});
export type Chosen = z.infer<typeof Chosen>;
export const CHOSEN_NAMES = Chosen.keyof().options;

export const RECOVER_DAYS = 7;
/** The budget in US$: well above the 8 that an environment costs which nobody uses. */
export const BUDGET = 100;

/**
 * What belongs together and what is not a value, as a sentence that names the option as `nameOf` does; undefined if nothing is
 * wrong.
 */
export function findProblem(options: Chosen, nameOf: (option: string) => string = (option) => option): string | undefined {
  const { error } = Chosen.safeParse(options);
  const [issue] = error?.issues ?? [];
  if (issue !== undefined) return `${nameOf(String(issue.path[0]))} ${issue.message}.`;
  const { domain, certificate, storeEndpoint, storeBucket, storeRegion } = options;
  if ((domain === undefined) !== (certificate === undefined))
    return `Use ${nameOf("domain")} and ${nameOf("certificate")} together.`;
  const store = [storeEndpoint, storeBucket, storeRegion].filter((value) => value !== undefined);
  if (store.length !== 0 && store.length !== 3)
    return `Use ${nameOf("storeEndpoint")}, ${nameOf("storeBucket")} and ${nameOf("storeRegion")} together.`;
  return undefined;
}

/** The values of an option that takes several. */
export const splitList = (values: string | undefined): string[] => values?.split(",") ?? [];

/** Whether the options need the edge stack. */
export const needsEdge = ({ healthCheck, requestsPerAddress }: Chosen): boolean =>
  healthCheck !== undefined || requestsPerAddress !== undefined;

const CdkJson = z.looseObject({ context: z.looseObject({ test: Chosen.optional(), live: Chosen.optional() }) });

/** cdk.json with the new options, and the resulting options of the environment. */
export function withChosen(
  cdkJson: string,
  environment: Environment,
  chosen: Readonly<Record<string, string>>,
): { text: string; values: Chosen } {
  const { context, ...rest } = CdkJson.parse(JSON.parse(cdkJson));
  const together = Object.entries({ ...context[environment], ...chosen });
  const values = Chosen.parse(Object.fromEntries(together.filter(([, value]) => value !== NONE)));
  if (isDeepStrictEqual(values, context[environment] ?? {})) return { text: cdkJson, values };
  return { text: `${JSON.stringify({ ...rest, context: { ...context, [environment]: values } }, undefined, 2)}\n`, values };
}

/** What the stack's outputs say of its settings. */
type Outputs = Readonly<Record<string, string>>;

/**
 * What a deployment ends only if it is told to: the stack's output that says so, the option, and a sentence about the present.
 */
const ENDED_BY_OPTION = [
  { output: "AlarmEmail", option: "alarmEmail", name: "--alarm-email", sentence: "Alarms go to" },
  { output: "MailSender", option: "mailSender", name: "--mail-sender", sentence: "Mail is sent from" },
  { output: "ArchiveAdmins", option: "archiveAdmins", name: "--archive-admins", sentence: "Archives can be deleted for good by" },
  { output: "ReplicaBucket", option: "replicaBucket", name: "--replica-bucket", sentence: "Archives are replicated to" },
  { output: "SecretReplicas", option: "secretReplicas", name: "--secret-replicas", sentence: "Secrets are replicated to" },
] as const;

/**
 * Why a deployment fails that would change what the stack is reached by or protected with, or delete archives for good, without
 * an option: cdk.json is an older one, or another checkout's.
 */
export function missingOption(outputs: Outputs, values: Chosen, chosen: Readonly<Record<string, string>>): string | undefined {
  const { Distribution, Dashboard, LockDays } = outputs;
  const dashboardUrl = Distribution === undefined ? undefined : Dashboard; // only a stack with a domain has this output
  if (dashboardUrl !== undefined && chosen.domain === undefined && dashboardUrl !== `https://${values.domain}`)
    return `The stack is reached at ${dashboardUrl}, and this deployment would take that name away: give --domain and --certificate
as before, or --domain none if that is what you want.`;
  for (const { output, option, name, sentence } of ENDED_BY_OPTION) {
    const { [output]: deployed } = outputs;
    if (deployed !== undefined && chosen[option] === undefined && deployed !== values[option])
      return `${sentence} ${deployed}, and this deployment would end that: give ${name} as before, or ${name} none.`;
  }
  if (LockDays !== undefined && values.lockDays === undefined)
    return `New archives are locked for ${LockDays} days, and a bucket cannot be without locks again: give --lock-days ${LockDays} as before, or
--lock-days 0 to lock no new ones.`;
  const [before, after] = [readRecoverDays(outputs), Number(values.recoverDays ?? RECOVER_DAYS)];
  if (before !== undefined && chosen.recoverDays === undefined && after < before)
    return `Deleted archives can be recovered for ${before} days, and this deployment would delete those for good that were deleted more than
${after} days ago: give --recover-days ${before} to keep them, or --recover-days ${after} if that is what you want.`;
  return undefined;
}

/** Undefined if there is no stack yet. Stacks of before there was this option have no such output. */
const readRecoverDays = ({ BackupBucket, RecoverDays }: Outputs): number | undefined =>
  BackupBucket === undefined ? undefined : Number(RecoverDays ?? 30);

/**
 * Returns where the stack's archives are if the deployment would look for them elsewhere: a bucket of AWS, or the URL of another
 * store.
 */
export function deployedStore(
  { BackupBucket, BackupStore }: Outputs,
  { storeEndpoint, storeBucket }: Chosen,
): string | undefined {
  const deployed = BackupStore ?? BackupBucket;
  const chosenStore =
    storeEndpoint === undefined || storeBucket === undefined ? BackupBucket : buildUrl(storeEndpoint, storeBucket);
  return deployed === chosenStore ? undefined : deployed;
}

/** What the URLs of archives in another store begin with. */
export const buildUrl = (endpoint: string, bucket: string): string => `${new URL(endpoint).origin}/${bucket}/`;

/**
 * Why a deployment with this key fails: the functions change before CloudFront does, and accept only this key and the one before
 * it. With any other, no request would succeed until CloudFront has the new key everywhere.
 */
export function unreachableKey({ OriginKey }: Outputs, number: number): string | undefined {
  if (OriginKey === undefined) return undefined;
  const deployed = Number(OriginKey);
  if (number === deployed || number === deployed + 1) return undefined;
  return `The stack has key ${deployed} between CloudFront and the functions, and infra/settings.ts says ${number}: with it, every request would be
rejected for minutes. Set originKey to ${deployed}, or to ${deployed + 1} for a new key.`;
}
