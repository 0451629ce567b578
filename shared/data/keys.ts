// Every item of the table, its key, and the access pattern that it serves. No other module writes a key.
//
// The account is part of the partition key of every item that an account owns, so that another account's item cannot be
// reached even by mistake. Only credentials and email addresses are found without it.
import { createHash } from "node:crypto";
import { shorten } from "../domain/ids.ts";
import type { ResourceType } from "../domain/lifecycle.ts";
import { ENTRY_LETTERS } from "./codes.ts";

export type Item = Record<string, unknown>;

export interface Key {
  pk: string;
  sk: string;
}

/** What the overview counts the changes of, of the items of an account and of those of its users. */
const REVISED = [
  "server",
  "instance",
  "backup",
  "operation",
  "backup_policy",
  "ssh_key",
  "invitation",
  "user",
  "session",
] as const;
export type Revised = (typeof REVISED)[number];

/** A key as one string, to compare items or to find them in a map. */
export const keyString = (item: Record<string, unknown> | Key): string => `${String(item.pk)}\n${String(item.sk)}`;

/** The kinds of record that are listed newest first with exact totals. */
export type ListKind = ResourceType | "operation" | "alert" | EventKind;

/** Events of the audit log, and of what came of it. */
export type EventKind = "event" | "outcome";

const account = (accountId: string) => `ACC#${accountId}`;
const owned = (accountId: string, collection: string) => `${account(accountId)}#${collection}`;

export const keys = {
  /** Settings, quotas, and how many of each kind there are and have been. */
  account: (accountId: string): Key => ({ pk: account(accountId), sk: keys.accountParts() }),
  /** A part of what it uses, for changes that meet others on that item. */
  accountShard: (accountId: string, shard: number): Key => ({ pk: account(accountId), sk: `${keys.accountParts()}#${shard}` }),
  accountParts: () => "ACCOUNT",

  /** The ids of all accounts, for the operator. */
  accounts: (): string => "ACCOUNTS",
  accountListed: (accountId: string): Key => ({ pk: keys.accounts(), sk: accountId }),

  /** A record by its id. */
  record: (kind: ListKind | "ssh_key", accountId: string, id: string): Key => ({ pk: owned(accountId, kind), sk: id }),
  /** All records of a kind, of which there are few. */
  records: (kind: "server", accountId: string) => owned(accountId, kind),
  /** All SSH keys of an account (at most 100). */
  sshKeys: (accountId: string) => owned(accountId, "ssh_key"),

  /** Adds an operation to the list of another resource that it locks or reads. */
  operationOf: (accountId: string, concernedId: string, operationId: string): Key => ({
    pk: owned(accountId, `operation_of#${concernedId}`),
    sk: operationId,
  }),

  /** Bulk actions that are off the lists, because a version from before 1.0.0 serves, which cannot read them. */
  operationsAside: (accountId: string) => owned(accountId, "operation_aside"),
  operationAside: (accountId: string, id: string): Key => ({ pk: keys.operationsAside(accountId), sk: id }),

  /** How many records of a list there are in each block of numbers: `filter` is a status, or `all`. */
  counts: (kind: ListKind, accountId: string) => owned(accountId, `count#${kind}`),
  count: (kind: ListKind, accountId: string, filter: string, leaf: number): Key => ({
    pk: keys.counts(kind, accountId),
    sk: `${keys.countsOf(filter)}${String(leaf).padStart(8, "0")}`,
  }),
  countsOf: (filter: string) => `${filter}#`,
  /**
   * A part of the same, for changes that meet others on one of those items; before them, so that one Query reads both and no
   * marks.
   */
  countShard: (kind: ListKind, accountId: string, filter: string, shard: number): Key => ({
    pk: keys.counts(kind, accountId),
    sk: `${keys.countShardsOf(filter)}${shard}`,
  }),
  countShardsOf: (filter: string) => `${filter}!`,
  /** The filter of an item of counts or of a shard; undefined for marks. */
  filterOfCounts: (sk: string): string | undefined => /^(.+)[#!]\d+$/.exec(sk)?.[1],
  /**
   * The times when the first records of blocks of numbers were created, next to the counts of all, so that one Query reads both.
   */
  marks: (kind: ListKind, accountId: string, leaf: number): Key => ({
    pk: keys.counts(kind, accountId),
    sk: `${keys.marksOf()}${String(leaf).padStart(8, "0")}`,
  }),
  marksOf: () => "all$",
  countsAndMarks: () => "all",

  /** How many records there are of each status, a number that every change raises, and one for each kind of record. */
  overview: (accountId: string): Key => ({ pk: account(accountId), sk: keys.overviewParts() }),
  /** A part of both, for changes that meet others on that item. */
  overviewShard: (accountId: string, shard: number): Key => ({ pk: account(accountId), sk: `${keys.overviewParts()}#${shard}` }),
  overviewParts: () => "OVERVIEW",
  /** The shards of all accounts that hold something. */
  filledShards: (): string => "FILLED_SHARDS",
  filledShard: ({ pk, sk }: Key): Key => ({ pk: keys.filledShards(), sk: `${pk} ${sk}` }),

  /** What a written item is, if the overview counts its changes. */
  revised: (accountId: string, written: string): Revised | undefined => {
    // A user's access has the sessions that are open.
    if (/^USER#.+\n(SESSION#|ACCESS$)/.test(written)) return "session";
    if (/^USER#.+\nUSER$/.test(written)) return "user";
    return REVISED.find((each) => written.startsWith(keyString({ pk: owned(accountId, each), sk: "" })));
  },

  /**
   * What lists are searched and filtered by: one small item for each record of a kind. Short keys, because a search reads them
   * all.
   */
  entries: (kind: ResourceType | "operation", accountId: string) => `${shorten(accountId)}${ENTRY_LETTERS[kind]}`,
  entry: (kind: ResourceType | "operation", accountId: string, id: string): Key => ({
    pk: keys.entries(kind, accountId),
    sk: shorten(id),
  }),

  /** Which records of a kind have which labels: for each label 64 items with a part of the records. */
  labels: (kind: ResourceType, accountId: string) => `${keys.entries(kind, accountId)}#labels`,
  label: (kind: ResourceType, accountId: string, label: string, part: string): Key => ({
    pk: keys.labels(kind, accountId),
    sk: `${keys.labelParts(label)}${part}`,
  }),
  labelParts: (label: string) => `${label}#`,
  /** The times when the instances of a part were last backed up. */
  backupTimes: (accountId: string, part: string): Key => ({
    pk: `${keys.entries("instance", accountId)}#backups`,
    sk: part,
  }),

  /** Partition of index `byNumber`: all records of a kind in the order they were made. */
  list: (kind: ListKind, accountId: string) => owned(accountId, kind),
  /** Partition of index `byStatus`: those with a status; events of a type. */
  listByStatus: (kind: ListKind, accountId: string, status: string) => owned(accountId, `${kind}#${status}`),
  /** Partition of index `byProtection`: the instances with a protection status. */
  listByProtection: (kind: ListKind, accountId: string, protection: string) =>
    owned(accountId, `${kind}#protection#${protection}`),
  /** Partition of the same index: the events of an actor. */
  listByActor: (kind: ListKind, accountId: string, actorId: string) => owned(accountId, `${kind}#actor#${actorId}`),
  /**
   * Partition of index `byParent`: the instances of a server, the backups of an instance, the operations and events of a
   * resource, or links to those that concern it.
   */
  listByParent: (kind: ListKind, accountId: string, parentId: string) => owned(accountId, `${kind}#${parentId}`),

  /** Markers that make a value unique: whose it is. */
  serverName: (accountId: string, name: string): Key => ({ pk: owned(accountId, "unique"), sk: `server_name#${name}` }),
  domain: (accountId: string, domain: string): Key => ({ pk: owned(accountId, "unique"), sk: `domain#${domain}` }),
  /** A domain that an instance had before and redirects. */
  redirect: (accountId: string, domain: string): Key => ({ pk: owned(accountId, "unique"), sk: `redirect#${domain}` }),
  databaseName: (accountId: string, serverId: string, name: string): Key => ({
    pk: owned(accountId, "unique"),
    sk: `database_name#${serverId}#${name}`,
  }),
  tokenName: (accountId: string, name: string): Key => ({ pk: owned(accountId, "unique"), sk: `token_name#${name}` }),

  /** What is shown of an account's tokens (at most 100). */
  tokens: (accountId: string) => owned(accountId, "api_token"),
  token: (accountId: string, id: string): Key => ({ pk: keys.tokens(accountId), sk: id }),
  /**
   * A token's permissions and limits, by the part of its id that is taken from the hash of its value. Every request writes it: at
   * most 1 KB, like `userAccess` (`test/figures.alone.table.test.ts`).
   */
  tokenAccess: (fingerprint: string): Key => ({ pk: `TOKEN#${fingerprint}`, sk: "ACCESS" }),

  /** The times when tokens of all accounts were last used from outside their networks. */
  outsideUses: (): string => "OUTSIDE_USES",
  outsideUse: (tokenId: string): Key => ({ pk: keys.outsideUses(), sk: tokenId }),

  /** A user's name, email address and password. */
  user: (userId: string): Key => ({ pk: `USER#${userId}`, sk: "USER" }),
  /** A user's sessions and limits. */
  userAccess: (userId: string): Key => ({ pk: `USER#${userId}`, sk: "ACCESS" }),
  /** A session with where it was opened; and a network from which a user has signed in, hashed, because it is only compared. */
  session: (userId: string, sessionId: string): Key => ({ pk: keys.user(userId).pk, sk: `${keys.sessionsOf()}${sessionId}` }),
  sessionsOf: () => "SESSION#",
  knownNetwork: (userId: string, network: string): Key => ({ pk: keys.user(userId).pk, sk: `PLACE#${hashed(network)}` }),
  /** A user's link to set a new password. */
  passwordReset: (userId: string): Key => ({ pk: keys.user(userId).pk, sk: "PASSWORD_RESET" }),
  /** A user's second factors, the codes in their place, and the secret of an authenticator app that is not confirmed yet. */
  factors: (userId: string): string => keys.user(userId).pk,
  factor: (userId: string, id: string): Key => ({ pk: keys.factors(userId), sk: `${keys.factorsOf()}${id}` }),
  factorsOf: () => "FACTOR#",
  recoveryCodes: (userId: string): Key => ({ pk: keys.factors(userId), sk: "RECOVERY_CODES" }),
  totpSetUp: (userId: string): Key => ({ pk: keys.factors(userId), sk: "TOTP_SET_UP" }),
  /** How often a challenge was tried, and whether it has been met. */
  challenge: (id: string): Key => ({ pk: `CHALLENGE#${id}`, sk: "TRIES" }),
  /** An account's single sign-on. */
  sso: (accountId: string): Key => ({ pk: owned(accountId, "sso"), sk: "SSO" }),
  /** Which account a verified domain belongs to. */
  ssoDomain: (name: string): Key => ({ pk: `SSO_DOMAIN#${name}`, sk: "DOMAIN" }),
  /** Which user a person of the identity provider is; `links` changes with the provider. */
  ssoLink: (accountId: string, links: string, subject: string): Key => ({
    pk: owned(accountId, `sso_link#${links}`),
    sk: hashed(subject),
  }),
  /** Says that a single sign-on was finished. */
  ssoState: (id: string): Key => ({ pk: `SSO_STATE#${id}`, sk: "FINISHED" }),
  /** An account's invitations. */
  invitations: (accountId: string) => owned(accountId, "invitation"),
  invitation: (accountId: string, id: string): Key => ({ pk: keys.invitations(accountId), sk: id }),
  /** The times when mails of a kind were last sent to, or for, somebody. The key is hashed, as for failed sign-ins. */
  mailLimit: (...of: string[]): Key => ({ pk: `MAIL_LIMIT#${hashed(of.join("\n"))}`, sk: "SENT" }),
  /** Which user an email address belongs to. */
  email: (email: string): Key => ({ pk: `EMAIL#${email.toLowerCase()}`, sk: "EMAIL" }),
  /** The ids of an account's users. */
  users: (accountId: string) => owned(accountId, "user"),
  userOf: (accountId: string, userId: string): Key => ({ pk: keys.users(accountId), sk: userId }),
  /**
   * Recent failed sign-ins of an email from an IP address, or of an IP address, and recent wrong second factors of a user.
   * Hashed, because the email may be a mistyped password.
   */
  loginFailures: (...of: string[]): Key => ({ pk: `SIGN_IN#${hashed(of.join("\n"))}`, sk: "FAILURES" }),

  /** The response stored for a credential's `Idempotency-Key`. */
  idempotency: (accountId: string, credentialId: string, key: string): Key => ({
    pk: owned(accountId, `idempotency#${credentialId}`),
    sk: hashed(key),
  }),

  /** A secret that waits, encrypted, for the task that uses it. */
  sealed: (accountId: string, operationId: string): Key => ({ pk: owned(accountId, "sealed"), sk: operationId }),

  /** The code of an instance. */
  code: (accountId: string, instanceId: string): Key => ({ pk: owned(accountId, "code"), sk: instanceId }),
  /** The check of it that is in progress. */
  codeCheck: (accountId: string, instanceId: string): Key => ({ pk: owned(accountId, "code_check"), sk: instanceId }),
  /** A deploy, and the code as it was when the deploy was requested. */
  deploy: (accountId: string, id: string): Key => ({ pk: owned(accountId, "deploy"), sk: id }),
  deployPlan: (accountId: string, id: string): Key => ({ pk: owned(accountId, "deploy_plan"), sk: id }),
  /** The key that the account reads a repository with. */
  deployKey: (accountId: string, url: string): Key => ({ pk: owned(accountId, "deploy_key"), sk: hashed(url) }),
  /** The code that an instance's ERP had when a backup of it was taken. */
  backupCode: (accountId: string, backupId: string): Key => ({ pk: owned(accountId, "backup_code"), sk: backupId }),
  /** Whose deploy hook a secret is, of which only the hash is known; and how often an instance's was called. */
  deployHook: (hash: string): Key => ({ pk: `DEPLOY_HOOK#${hash}`, sk: "HOOK" }),
  pushLimit: (instanceId: string): Key => ({ pk: `PUSH_LIMIT#${instanceId}`, sk: "SENT" }),
  /** The pushes of all accounts that have not been looked at, or not deployed: one for each instance. */
  pushes: (): string => "PUSHES",
  push: (instanceId: string): Key => ({ pk: keys.pushes(), sk: instanceId }),

  /** The restore drill or import in progress on a server. */
  drill: (accountId: string, serverId: string): Key => ({ pk: owned(accountId, "drill"), sk: serverId }),

  /** A bulk action: what it does first, then its selection in parts, then an item for each resource from its turn on. */
  bulkItems: (accountId: string, operationId: string) => owned(accountId, `bulk#${operationId}`),
  bulkAction: (accountId: string, operationId: string): Key => ({ pk: keys.bulkItems(accountId, operationId), sk: "ACTION" }),
  bulkPart: (accountId: string, operationId: string, part: number): Key => ({
    pk: keys.bulkItems(accountId, operationId),
    sk: `PART#${String(part).padStart(2, "0")}`,
  }),
  bulkRow: (accountId: string, operationId: string, index: number): Key => ({
    pk: keys.bulkItems(accountId, operationId),
    sk: `ROW#${String(index).padStart(4, "0")}`,
  }),
  indexOfBulkRow: (sk: string): number | undefined => (sk.startsWith("ROW#") ? Number(sk.slice(4)) : undefined),
  /** How many bulk actions an account has in progress. */
  bulkActions: (accountId: string): Key => ({ pk: owned(accountId, "bulk"), sk: "IN_PROGRESS" }),
  /** The times when an account's bulk actions last deleted something. */
  bulkDeletions: (accountId: string): Key => ({ pk: owned(accountId, "bulk"), sk: "DELETIONS" }),

  /** What must be looked after across accounts: operations not yet ended, and backups with their end. */
  open: (): string => "OPEN",
  openOperation: (operationId: string): Key => ({ pk: keys.open(), sk: operationId }),
  expiring: (): string => "EXPIRING",
  expiringBackup: (expiresAt: string, backupId: string): Key => ({ pk: keys.expiring(), sk: `${expiresAt}#${backupId}` }),
  /** An archive that is being uploaded. */
  upload: (accountId: string, id: string): Key => ({ pk: owned(accountId, "upload"), sk: id }),
  /** How many an account has. */
  uploads: (accountId: string): Key => ({ pk: owned(accountId, "uploads"), sk: "UNFINISHED" }),
  /** Uploads that must be aborted in the store, of all accounts: when they expire, or at once. */
  expiringUploads: (): string => "EXPIRING_UPLOADS",
  expiringUpload: (at: string, uploadId: string): Key => ({ pk: keys.expiringUploads(), sk: `${at}#${uploadId}` }),
  /** An instance's backup policy. */
  backupPolicy: (accountId: string, instanceId: string): Key => ({ pk: owned(accountId, "backup_policy"), sk: instanceId }),
  /**
   * Partition of index `byStatus`: the enabled policies of all accounts, in shards, in the order in which there is something to
   * do.
   */
  policiesDue: (shard: number): string => `POLICIES_DUE#${shard}`,
  policyDue: (at: string, instanceId: string): string => `${at}#${instanceId}`,
  /** Servers whose health is checked. */
  watched: (): string => "WATCHED",
  watchedServer: (serverId: string): Key => ({ pk: keys.watched(), sk: serverId }),
  /** What the jobs of an operation have logged, deflated, in parts. */
  workLog: (accountId: string, operationId: string) => owned(accountId, `work_log#${operationId}`),
  /** Figures of a server and its instances. */
  figures: (accountId: string, serverId: string) => owned(accountId, `figures#${serverId}`),
  /** What a server's machine last reported about itself. */
  hostReports: (accountId: string) => owned(accountId, "host_report"),
  hostReport: (accountId: string, serverId: string): Key => ({ pk: keys.hostReports(accountId), sk: serverId }),

  /** The alerts that are open, so that there is one of each resource, kind and threshold (or type of operation). */
  openAlerts: (accountId: string) => owned(accountId, "open_alert"),
  openAlert: (accountId: string, resourceId: string, kind: string, step: string): Key => ({
    pk: keys.openAlerts(accountId),
    sk: `${resourceId}#${kind}#${step}`,
  }),

  /** An account's webhooks (at most 20), and how their deliveries go. */
  webhooks: (accountId: string) => owned(accountId, "webhook"),
  webhook: (accountId: string, id: string): Key => ({ pk: keys.webhooks(accountId), sk: id }),
  webhookHealth: (accountId: string, id: string): Key => ({ pk: owned(accountId, "webhook_health"), sk: id }),
  /** The webhooks of all accounts. */
  webhooksListed: (): string => "WEBHOOKS",
  webhookListed: (id: string): Key => ({ pk: keys.webhooksListed(), sk: id }),
  /** A webhook's deliveries, in the order of their events, and what each sends. */
  deliveries: (accountId: string, webhookId: string) => owned(accountId, `delivery#${webhookId}`),
  delivery: (accountId: string, webhookId: string, id: string): Key => ({ pk: keys.deliveries(accountId, webhookId), sk: id }),
  deliveryBody: (accountId: string, webhookId: string, id: string): Key => ({
    pk: owned(accountId, `delivery_body#${webhookId}`),
    sk: id,
  }),
  /** A webhook's queue: the deliveries with a try to make, by when it is due. */
  dues: (accountId: string, webhookId: string) => owned(accountId, `due#${webhookId}`),
  due: (accountId: string, webhookId: string, at: string, deliveryId: string): Key => ({
    pk: keys.dues(accountId, webhookId),
    sk: `${at}#${deliveryId}`,
  }),
  /** Which run works through a part of the queue. */
  webhookLane: (accountId: string, webhookId: string, lane: number): Key => ({
    pk: owned(accountId, "webhook_lane"),
    sk: `${webhookId}#${lane}`,
  }),
  /** The time when a chat last got a message about a resource and a type of event. */
  chatSent: (accountId: string, webhookId: string, about: string): Key => ({
    pk: owned(accountId, `chat#${webhookId}`),
    sk: about,
  }),
  /** Who has read an instance's logs, and the limits on that. */
  logReads: (accountId: string, instanceId: string): Key => ({ pk: owned(accountId, "log_reads"), sk: instanceId }),
  logReader: (accountId: string, instanceId: string, credentialId: string): Key => ({
    pk: owned(accountId, "log_reads"),
    sk: `${instanceId}#${credentialId}`,
  }),
  /** The outbox of all accounts: events whose deliveries have not been recorded. */
  outboxShard: (shard: number): string => `OUTBOX#${shard}`,
  outbox: (shard: number, id: string): Key => ({ pk: keys.outboxShard(shard), sk: id }),

  /** A mail, and its position in the queue of all mails: by when its next try is due. */
  mail: (accountId: string, id: string): Key => ({ pk: owned(accountId, "mail"), sk: id }),
  mailsDue: (): string => "MAILS_DUE",
  mailPlace: (knownNetwork: string): Key => ({ pk: keys.mailsDue(), sk: knownNetwork }),
  mailDue: (at: string, id: string): Key => keys.mailPlace(`${at}#${id}`),
  /** What waits for a user's next digest, and what has been taken into one. */
  digestEntries: (accountId: string, userId: string) => owned(accountId, `digest#${userId}`),
  digestEntry: (accountId: string, userId: string, eventId: string): Key => ({
    pk: keys.digestEntries(accountId, userId),
    sk: eventId,
  }),
  digested: (accountId: string, userId: string, eventId: string): Key => ({
    pk: owned(accountId, `digested#${userId}`),
    sk: eventId,
  }),
  /** The time when a user got the last digest. */
  digest: (accountId: string, userId: string): Key => ({ pk: owned(accountId, "digest"), sk: userId }),
  /** The users of all accounts for whom something waits. */
  digestsDue: (): string => "DIGESTS_DUE",
  digestDue: (userId: string): Key => ({ pk: keys.digestsDue(), sk: userId }),

  /** What distinguishes this deployment from another with the same providers' accounts. */
  installation: (): Key => ({ pk: "INSTALLATION", sk: "INSTALLATION" }),
  /** Which migrations the table has. */
  schema: (): Key => ({ pk: "SCHEMA", sk: "SCHEMA" }),
  /** What each provider offers, and which editions can be installed. */
  catalog: (): string => "CATALOGUE",
  offered: (provider: string): Key => ({ pk: keys.catalog(), sk: `provider#${provider}` }),
  editions: (): Key => ({ pk: keys.catalog(), sk: "editions" }),
  /** The newest image of each of the ERP's versions. */
  newestImages: (): string => "NEWEST_IMAGES",
  newestImage: (version: string): Key => ({ pk: keys.newestImages(), sk: version }),
  /** The operator's own machines that are taken, and by which server. */
  takenMachines: (): string => "TAKEN_MACHINES",
  takenMachine: (name: string): Key => ({ pk: keys.takenMachines(), sk: name }),

  /** What the sandbox's simulated provider and hosts hold. */
  sandboxMachines: (): string => "SANDBOX#MACHINES",
  sandboxMachine: (machineId: string): Key => ({ pk: keys.sandboxMachines(), sk: machineId }),
  sandboxErp: (machineId: string, instanceId: string): Key => ({ pk: `SANDBOX#ERP#${machineId}`, sk: instanceId }),
  sandboxRepository: (accountId: string, name: string): Key => ({ pk: owned(accountId, "sandbox_repository"), sk: name }),
  sandboxDns: (accountId: string, name: string): Key => ({ pk: owned(accountId, "sandbox_dns"), sk: name }),
  sandboxJob: (machineId: string, jobId: string): Key => ({ pk: `SANDBOX#JOBS#${machineId}`, sk: jobId }),
} as const;

const HOSTS_KEY = "HOSTS_KEY";
const NOTES = "NOTE#";

/**
 * The key that machines let in: what operators have done with it, and its replacement in progress. Apart from the others, because
 * no function needs them.
 */
export const hostsKeyItems = {
  all: HOSTS_KEY,
  rotation: { pk: HOSTS_KEY, sk: "ROTATION" } satisfies Key,
  exported: (fingerprint: string): Key => ({ pk: HOSTS_KEY, sk: `${NOTES}EXPORT#${fingerprint}` }),
  note: (at: string): Key => ({ pk: HOSTS_KEY, sk: `${NOTES}${at}` }),
  isNote: ({ sk }: Item): boolean => String(sk).startsWith(NOTES),
} as const;

function hashed(value: string): string {
  return createHash("sha256").update(value).digest("base64url");
}

/** The counts of the records with a protection status, and of an actor's events. */
export const protectionFilter = (protection: string): string => `protection#${protection}`;
export const actorFilter = (actorId: string): string => `actor#${actorId}`;

/** The lists that a record is on, besides that of its kind. */
export interface ListMembership {
  /** An event's type is its status. */
  status?: string | undefined;
  parentId?: string | undefined;
  protection?: string | undefined;
  actorId?: string | undefined;
}

/** Attributes that place a record in the indexes. */
export const placement = (
  kind: ListKind,
  accountId: string,
  number: string,
  { status, parentId, protection, actorId }: ListMembership,
) => ({
  number,
  list: keys.list(kind, accountId),
  ...(status !== undefined && { list_status: keys.listByStatus(kind, accountId, status) }),
  ...(parentId !== undefined && { list_parent: keys.listByParent(kind, accountId, parentId) }),
  ...(protection !== undefined && { list_protection: keys.listByProtection(kind, accountId, protection) }),
  ...(actorId !== undefined && { list_protection: keys.listByActor(kind, accountId, actorId) }),
});
