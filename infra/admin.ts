// `npm run admin -- COMMAND`: accounts, users, quotas and forgotten passwords, on this machine or in a deployment.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as z from "zod";
import { ApiError, mustBeOneOf } from "../shared/api/errors.ts";
import { characters, emailInput, text } from "../shared/api/fields.ts";
import { ALL_PERMISSIONS, type Permission } from "../shared/api/permissions.ts";
import { type Role, ROLES } from "../shared/api/roles.ts";
import { customPermissions } from "../shared/api/users.ts";
import { setNewKindsAside } from "../shared/migrations/before-rollback.ts";
import { indexAccount } from "../shared/migrations/indexing.ts";
import { hasMigrationsToRun, migrate } from "../shared/migrations/migrations.ts";
import {
  accountIds,
  allAccounts,
  allowSignInFromEverywhere,
  createAccount,
  createUser,
  deleteSecondFactors,
  deleteUser,
  listEmails,
  namedAccount,
  clearBouncingMailbox,
  resetPassword,
  setQuota,
  setUserRole,
} from "../shared/operations/accounts/operator.ts";
import { completeFoundBackups } from "../shared/operations/backups/found-archives.ts";
import { releaseMachine } from "../shared/records/taken-machines.ts";
import { generatePassword } from "../shared/domain/generated-password.ts";
import { CODE, DEFAULT_QUOTAS, SESSIONS_PER_USER } from "../shared/domain/limits.ts";
import { isCommonPassword } from "../shared/platform/common-passwords.ts";
import { env } from "../shared/platform/env.ts";
import { serviceKey } from "../shared/platform/service-key.ts";
import { exportHostsKey, hostsKeyLog, importHostsKey, rotateHostsKey } from "./hosts-key.ts";
import { LocalError } from "./local/errors.ts";
import { storeFrom } from "./local/operator.ts";
import { DEFAULT_DATA_DIR, NOT_RUNNING, readAccess, useAccess } from "./local/access.ts";
import { restoreBackup, showBackups, takeBackup } from "./local/service-backup/commands.ts";
import { tableName } from "./settings.ts";
import { showStatus } from "./status.ts";
import { ENVIRONMENTS } from "../shared/domain/environments.ts";

const USAGE = `npm run admin -- COMMAND [--environment test|live] [--data DIR]

  list                                                     accounts, their users and quotas
  status [--json] [--requests N]                           how much there is, what is overdue or waits, which deliveries fail, and what
                                                           this month costs on AWS; N is how many requests the API got this month
  create-account --name NAME --email EMAIL [--user NAME]   an account with its first user
  create-user --account ID --email EMAIL [--user NAME] [--role ROLE [--permissions A,B]]
                                                           one more user of an account; the role is owner, admin, operator, viewer
                                                           or custom, and owner if you leave it out; custom needs its permissions
  set-role --email EMAIL --role ROLE [--permissions A,B]   another role for a user; an account keeps its last owner
  delete-user --email EMAIL                                removes a user and ends all of their sessions; keeps and lists the API
                                                           tokens that they created; an account keeps its last owner
  set-password --email EMAIL                               a new password; ends all of the user's sessions
  delete-second-factors --email EMAIL                      removes a user's passkeys, authenticator app and recovery codes, such as
                                                           those of an account's last owner, whom nobody else can help
  allow-sign-in-from-everywhere --account ID               empties the list of networks that an account's people may sign in from,
                                                           such as after their office's address has changed
  mailbox-works --email EMAIL                              a user's mailbox takes mail again (docs/operations.md, "A mailbox bounces")
  set-quota --account ID --servers N --instances N --tokens N --ssh-keys N --users N --sessions N --backups N --backup-bytes N --webhooks N --repositories N
                                                           new quotas; --backup-bytes also takes GB and TB (500GB)
  migrate                                                  continues the migrations of the data that \`npm start\` or \`npm run deploy\` could
                                                           not end; safe at any time
  index [--account ID]                                     repeats the first migration, which adds what search, labels, filters, the
                                                           overview and quotas need to older records; safe at any time
  before-rollback                                          makes the table readable for a version from before 1.0.0, before you go back to
                                                           it: takes kinds of operations that are new off the lists; index brings them back
  find-archives [--account ID] [--bucket NAME]             completes backups that failed for want of their archives, which are back;
                                                           for a deployment, NAME is the stack's output BackupBucket
  release-machine --name NAME                              lets any account use one of your own machines, which you have
                                                           reinstalled, and not only the account that used it last
  service-key [--secret ARN]                               the SSH key that the service uses to log in to machines; for a
                                                           deployment, ARN is the stack's output HostsKey
  export-hosts-key --to FILE [--secret ARN]                writes that key to a file, once, sealed by HOSTS_KEY_PASSPHRASE
  import-hosts-key --from FILE [--secret ARN]              makes an exported key this service's, as after the loss of a region
  rotate-hosts-key [--secret ARN]                          replaces that key on all machines; goes on where it was stopped
  hosts-key-log                                            who did what of these, and when
  backup-service --to DIR|s3://BUCKET/PREFIX [--keep N] [--daily]
                                                           backs up the service of this machine, also while it runs: its table, its
                                                           secrets sealed by SERVICE_BACKUP_PASSPHRASE, and what its store lists; --daily
                                                           does nothing before the newest backup is a day old
  service-backups --from DIR|s3://BUCKET/PREFIX            lists them; exits with 1 if the newest is over two days old
  restore-service --from DIR|s3://BUCKET/PREFIX [--backup NAME] --data DIR
                                                           restores the newest backup, or that one, to a new folder

Passwords are generated and shown once; with --ask-password, the command reads them from standard input instead.
Without --environment, the command manages the service that \`npm start\` runs here; with it, a deployment, with the
AWS credentials of your shell.`;

const OPTIONS = {
  environment: { type: "string" },
  data: { type: "string" },
  name: { type: "string" },
  email: { type: "string" },
  user: { type: "string" },
  role: { type: "string" },
  permissions: { type: "string" },
  account: { type: "string" },
  servers: { type: "string" },
  instances: { type: "string" },
  tokens: { type: "string" },
  "ssh-keys": { type: "string" },
  users: { type: "string" },
  sessions: { type: "string" },
  backups: { type: "string" },
  "backup-bytes": { type: "string" },
  webhooks: { type: "string" },
  repositories: { type: "string" },
  secret: { type: "string" },
  bucket: { type: "string" },
  to: { type: "string" },
  from: { type: "string" },
  backup: { type: "string" },
  keep: { type: "string" },
  daily: { type: "boolean" },
  json: { type: "boolean" },
  requests: { type: "string" },
  "ask-password": { type: "boolean" },
  help: { type: "boolean" },
} as const;

const WHOLE = z.string().regex(/^\d{1,6}$/, "must be a whole number");
const COUNT = z.string().regex(/^\d{1,15}$/, "must be a whole number");
const BYTES = z.string().regex(/^(\d{1,15}|\d{1,6}[GT]B)$/, "must be a whole number of bytes, GB or TB, such as 500GB");
const FEW = WHOLE.refine(
  (text) => Number(text) >= 1 && Number(text) <= SESSIONS_PER_USER,
  `must be from 1 to ${SESSIONS_PER_USER}`,
);

const REPOSITORIES = WHOLE.refine((text) => Number(text) <= CODE.repositoriesMax, `must be at most ${CODE.repositoriesMax}`);

const QUOTAS = [
  { option: "servers", kind: "server", form: WHOLE },
  { option: "instances", kind: "instance", form: WHOLE },
  { option: "tokens", kind: "token", form: WHOLE },
  { option: "ssh-keys", kind: "ssh_key", form: WHOLE },
  { option: "users", kind: "user", form: WHOLE },
  { option: "sessions", kind: "session", form: FEW }, // the oldest ends
  { option: "backups", kind: "backup", form: WHOLE },
  { option: "backup-bytes", kind: "backup_bytes", form: BYTES },
  { option: "webhooks", kind: "webhook", form: WHOLE },
  { option: "repositories", kind: "repositories", form: REPOSITORIES },
] as const;

const PER: Readonly<Record<string, string>> = { session: " per user", repositories: " per instance" };

const UNITS: Readonly<Record<string, number>> = { GB: 1e9, TB: 1e12 };

/** What an option says, of which `form` has made sure that it is a number, of bytes perhaps with a unit. */
const parseNumber = (value: string): number => Number.parseInt(value, 10) * (UNITS[value.slice(-2)] ?? 1);

class UsageError extends Error {}

async function run(): Promise<void> {
  const { values, positionals } = parse();
  const [command] = positionals;
  if (command === "help" || values.help) return console.log(USAGE);
  if (command === undefined) throw new UsageError();
  const ofService = workOnService(command, values);
  if (ofService !== undefined) return ofService;
  connect(values.environment, values.data);
  const recovery = prepareOrRecover(command, values);
  if (recovery !== undefined) return recovery;
  const ofUser = changeUser(command, values);
  if (ofUser !== undefined) return ofUser;
  switch (command) {
    case "list":
      return list();
    case "status":
      return status(values);
    case "create-account": {
      const { account, user, password } = await withPassword(values, async (password) => ({
        password,
        ...(await createAccount(parseOption("name", values.name, text(100, "")), { ...person(values), password })),
      }));
      console.log(`Account ${account.id} (${account.account_name})`);
      return showUser(user.email, password, values);
    }
    case "create-user": {
      const { user, password } = await withPassword(values, async (password) => ({
        password,
        user: await createUser(requireOption("account", values.account), { ...person(values), ...granted(values), password }),
      }));
      return showUser(user.email, password, values);
    }
    case "set-password": {
      const address = parseOption("email", values.email, emailInput);
      const password = await withPassword(values, async (password) => {
        await resetPassword(address, password);
        return password;
      });
      return showUser(address, password, values);
    }
    case "set-quota":
      return quotas(requireOption("account", values.account), values);
    case "index":
      for (const id of await accountsIn(values)) for await (const _ of indexAccount(id));
      return console.log("Every record can be found");
    case "migrate":
      await migrate((line) => console.log(line));
      return console.log("No migration is missing");
    case "allow-sign-in-from-everywhere":
      return signInFromEverywhere(requireOption("account", values.account));
    case "release-machine":
      return release(requireOption("name", values.name));
    case "service-key":
      return showServiceKey(values);
    default:
      throw new UsageError(`Unknown command: ${command}.`);
  }
}

/** Commands for when something has been lost or has leaked (docs/disaster.md), or a version is taken back (docs/deploy.md). */
function prepareOrRecover(command: string, values: Values): Promise<void> | undefined {
  switch (command) {
    case "export-hosts-key":
      return exportHostsKey(hostsKey(values), requireOption("to", values.to));
    case "import-hosts-key":
      return importHostsKey(hostsKey(values), requireOption("from", values.from));
    case "rotate-hosts-key":
      return rotateHostsKey(hostsKey(values));
    case "hosts-key-log":
      return hostsKeyLog();
    case "find-archives":
      return findArchives(values);
    case "before-rollback":
      return setAside();
    default:
      return undefined;
  }
}

/** Commands on one user, but for the password. */
function changeUser(command: string, values: Values): Promise<void> | undefined {
  const address = (): string => parseOption("email", values.email, emailInput);
  switch (command) {
    case "set-role":
      return setRole(values);
    case "delete-user":
      return removeUser(address());
    case "delete-second-factors":
      return removeSecondFactors(address());
    case "mailbox-works":
      return mailboxWorks(address());
    default:
      return undefined;
  }
}

/** The secret: the local service's own, or the one that the operator names. */
const hostsKey = (values: Values): string => process.env["HOSTS_KEY"] ?? requireOption("secret", values.secret);

/** Commands on the folder of a service, whether it runs or not, and on a place for which the shell may have credentials. */
function workOnService(command: string, values: Values): Promise<void> | undefined {
  switch (command) {
    case "backup-service": {
      const keep =
        values.keep === undefined
          ? {}
          : { keep: Number(parseOption("keep", values.keep, WHOLE.regex(/[1-9]/, "must be at least 1"))) };
      return takeBackup({
        to: requireOption("to", values.to),
        data: values.data ?? DEFAULT_DATA_DIR,
        daily: values.daily ?? false,
        ...keep,
      });
    }
    case "service-backups":
      return showBackups(requireOption("from", values.from));
    case "restore-service": {
      const chosen = values.backup === undefined ? {} : { name: values.backup };
      return restoreBackup({ from: requireOption("from", values.from), data: requireOption("data", values.data), ...chosen });
    }
    default:
      return undefined;
  }
}

function parse() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
type Values = ReturnType<typeof parse>["values"];

/** Points the table's client at the local service, or at a deployment. */
function connect(environment: string | undefined, data: string | undefined): void {
  if (environment === undefined) {
    useAccess(readAccess(data));
    return;
  }
  if (data !== undefined)
    throw new UsageError("--data is a folder of this machine, and --environment a deployment: give one of them.");
  const match = ENVIRONMENTS.find((name) => name === environment);
  if (match === undefined) throw new UsageError(`--environment is ${ENVIRONMENTS.join(" or ")}.`);
  Object.assign(process.env, { TABLE_NAME: tableName(match), ENVIRONMENT: match });
}

const accountsIn = async ({ account }: Values): Promise<string[]> =>
  account === undefined ? accountIds() : [(await namedAccount(account)).id];

async function setAside(): Promise<void> {
  const open: string[] = [];
  for (const account of await accountIds()) open.push(...(await setNewKindsAside(account)).map((id) => `  ${id} of ${account}`));
  if (open.length > 0)
    throw new LocalError(
      `Operations are in progress that such versions do not know. Wait for their end, and repeat this command:\n${open.join("\n")}`,
    );
  console.log("Versions from before 1.0.0 can read every operation and backup");
}

async function findArchives(values: Values): Promise<void> {
  Object.assign(process.env, storeFrom(process.env)); // the operator's own store, if it is set
  process.env["BACKUP_BUCKET"] ??= requireOption("bucket", values.bucket);
  let completedCount = 0;
  for (const account of await accountsIn(values))
    for await (const { id } of completeFoundBackups(account)) {
      console.log(`${id} can be restored again`);
      completedCount += 1;
    }
  console.log(`${completedCount} backups were completed`);
}

async function list(): Promise<void> {
  if (await hasMigrationsToRun()) console.error("Migrations of the data have not ended: npm run admin -- migrate");
  for (const account of await allAccounts()) {
    const used = Object.keys(DEFAULT_QUOTAS).map((kind) => {
      const quota = z.record(z.string(), z.unknown()).parse(account);
      const name = kind === "backup_bytes" ? "backup bytes" : `${kind.replace("_", " ")}s`;
      return `${name} ${String(quota[`used_${kind}`])}/${String(quota[`limit_${kind}`])}`;
    });
    used.push(`sessions per user ${account.limit_session}`, `repositories per instance ${account.limit_repositories}`);
    console.log(`${account.id}  ${account.account_name}\n  ${used.join(", ")}\n  ${(await listEmails(account.id)).join(", ")}`);
  }
}

async function showServiceKey(values: Values): Promise<void> {
  process.env["HOSTS_KEY"] ??= hostsKey(values);
  console.log((await serviceKey()).public_key);
}

const status = ({ json = false, requests }: Values): Promise<void> =>
  showStatus({
    environment: env().ENVIRONMENT,
    json,
    requests: requests === undefined ? undefined : Number(parseOption("requests", requests, COUNT)),
  });

async function release(name: string): Promise<void> {
  await releaseMachine(name);
  console.log(`Any account may have ${name}`);
}

async function signInFromEverywhere(accountId: string): Promise<void> {
  await allowSignInFromEverywhere(accountId);
  console.log(`People of ${accountId} can sign in from everywhere`);
}

async function setRole(values: Values): Promise<void> {
  requireOption("role", values.role);
  const user = await setUserRole(parseOption("email", values.email, emailInput), granted(values));
  console.log(`${user.email} has the role ${user.role}`);
}

async function removeUser(address: string): Promise<void> {
  const tokens = await deleteUser(address);
  console.log(`User ${address} was removed and signed out everywhere`);
  if (tokens.length === 0) return;
  console.log("API tokens that they created keep working; revoke those you no longer need:");
  for (const { id, name } of tokens) console.log(`  ${id}  ${name}`);
}

async function removeSecondFactors(address: string): Promise<void> {
  const count = await deleteSecondFactors(address);
  console.log(`${address} had ${count} second factor${count === 1 ? "" : "s"}, and has none now`);
}

async function mailboxWorks(address: string): Promise<void> {
  await clearBouncingMailbox(address);
  console.log(`${address} gets mail again; on AWS, also remove it from the suppression list (docs/operations.md)`);
}

async function quotas(accountId: string, values: Values): Promise<void> {
  const limits = QUOTAS.flatMap(({ option, kind, form }) => {
    const value = values[option];
    return value === undefined ? [] : [{ option, kind, limit: parseOption(option, value, form) }];
  });
  if (limits.length === 0) throw new UsageError(`Give at least one of ${QUOTAS.map(({ option }) => `--${option}`).join(", ")}.`);
  for (const { option, kind, limit } of limits) {
    await setQuota(accountId, kind, parseNumber(limit));
    console.log(`${accountId} can have ${limit} ${option.replace("-bytes", " bytes")}${PER[kind] ?? ""}`);
  }
}

const person = (values: Values) => {
  const address = parseOption("email", values.email, emailInput);
  return { email: address, name: values.user === undefined ? address : parseOption("user", values.user, text(100, "")) };
};

/** The role that the options name: an owner, unless they name another. */
function granted({ role = "owner", permissions }: Values): { role: Role; permissions: Permission[] } {
  const match = ROLES.find((each) => each === role);
  if (match === undefined) throw new UsageError(`--role ${mustBeOneOf(ROLES)}.`);
  if ((match === "custom") !== (permissions !== undefined))
    throw new UsageError("--permissions go with --role custom, which needs them.");
  const result = customPermissions.safeParse(permissions?.split(",") ?? [...ALL_PERMISSIONS]);
  if (!result.success) throw new UsageError(`--permissions ${result.error.issues[0]?.message ?? "are not valid"}.`);
  return { role: match, permissions: match === "custom" ? result.data : [] };
}

/** Passwords never come from an argument: everyone on the machine can see arguments. */
async function withPassword<T>(values: Values, use: (password: string) => Promise<T>): Promise<T> {
  if (!values["ask-password"]) return use(generatePassword());
  const password = await unseenLine("Password (12 to 128 characters): ");
  const problem = characters(12, 128).safeParse(password).error?.issues[0];
  if (problem !== undefined) throw new UsageError(`The password ${problem.message}.`);
  if (isCommonPassword(password)) throw new UsageError("The password is one of the most common ones; choose another.");
  return use(password);
}

/** The next line of the standard input, which a terminal does not show. */
async function unseenLine(prompt: string): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: process.stdin.isTTY });
  process.stderr.write(prompt); // from here on nothing typed is shown
  const { value, done } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  process.stderr.write("\n");
  if (done) throw new LocalError("No password was given."); // also after Ctrl-C
  return value;
}

/** The operator knows a password that they typed. */
const showUser = (address: string, password: string, values: Values): void =>
  console.log(
    `User ${address}${
      values["ask-password"]
        ? ""
        : `
Password ${password}   (shown only once)`
    }`,
  );

function requireOption(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`--${option} is required.`);
  return value;
}

function parseOption(option: string, value: string | undefined, schema: z.ZodType<string>): string {
  const result = schema.safeParse(requireOption(option, value));
  if (!result.success) throw new UsageError(`--${option} ${result.error.issues[0]?.message ?? "is not valid"}.`);
  return result.data;
}

const isCode = (error: unknown, name: string): boolean =>
  error instanceof Error && (error.name === name || ("code" in error && error.code === name));

const isRegionMissing = (error: unknown): boolean => error instanceof Error && error.message === "Region is missing";

try {
  await run();
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message === "" ? "" : `${error.message}\n\n`}${USAGE}`);
  else if (error instanceof ApiError || error instanceof LocalError) console.error(error.message);
  else if (isCode(error, "ECONNREFUSED")) console.error(NOT_RUNNING);
  else if (isCode(error, "CredentialsProviderError") || isRegionMissing(error))
    console.error(`Your shell has no AWS credentials, or no region: set them as docs/deploy.md says.\n${String(error)}`);
  else throw error;
  process.exitCode = 1;
}
