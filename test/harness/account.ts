// An account for one test, with users, tokens and resources in it, so that tests do not see each other.
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Catalog } from "../../shared/api/catalog.ts";
import { Instance } from "../../shared/api/instances.ts";
import type { OperationResult } from "../../shared/api/operations.ts";
import { ALL_PERMISSIONS, type Permission } from "../../shared/api/permissions.ts";
import { Server } from "../../shared/api/servers.ts";
import type { SshKey } from "../../shared/api/ssh-keys.ts";
import { getAccount, newAccount } from "../../shared/records/accounts.ts";
import { type Change, startChange } from "../../shared/data/change.ts";
import { type By, logEvent } from "../../shared/records/events.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { reserveUser } from "../../shared/records/users.ts";
import { keys } from "../../shared/data/keys.ts";
import { findOperation } from "../../shared/records/operations.ts";
import { isOpen } from "../../shared/domain/lifecycle.ts";
import { createUser, type NewUser } from "../../shared/operations/accounts/operator.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import type { UserRecord } from "../../shared/records/schemas/user.ts";
import { reserveSshKey } from "../../shared/records/ssh-keys.ts";
import { putIfAbsent } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { parseSshKey } from "../../shared/runtime/ssh-key.ts";
import * as auth from "../../shared/api/auth.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { env } from "../../shared/platform/env.ts";
import { hashPassword } from "../../shared/platform/passwords.ts";
import { type Client, clientWith, anonymous } from "./client.ts";
import { apiUrl } from "./cloud.ts";
import { unique, uniqueDatabase, uniqueDomain } from "./unique.ts";
import { seedActiveServer, seedCompletedBackup, seedRunningInstance } from "./seed-sandbox.ts";
import { seedWebhook } from "./seed.ts";

export interface TestToken {
  id: string;
  value: string;
  api: Client;
}

export interface TestUser extends NewUser {
  id: string;
}

export interface TestAccount {
  id: string;
  user: TestUser;
  /** A client with a token that has every permission. */
  api: Client;
  tokenId: string;
  /** Signed in as the first user, or as another; each call opens its own session. */
  session: (as?: { email: string; password: string }) => Promise<Client>;
  /** An owner, unless another role is given. */
  anotherUser: (granted?: Pick<NewUser, "role" | "permissions">) => Promise<TestUser>;
  /** A token with these permissions and its own rate limits. */
  token: (permissions?: readonly Permission[], expiresAt?: string | null) => Promise<TestToken>;
  sshKey: () => Promise<SshKey>;
  /** The ID of a webhook with so many deliveries. */
  webhook: (deliveries?: number) => Promise<string>;
  /** A valid body for a new server. */
  serverBody: (fields?: Record<string, unknown>) => Promise<Record<string, unknown>>;
  instanceBody: (fields?: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** An active server. */
  server: (fields?: Record<string, unknown>) => Promise<Server>;
  /** A running instance, on the account's own server unless `server_id` names another. */
  instance: (fields?: Record<string, unknown>) => Promise<Instance>;
  /** A completed backup. */
  backup: (instanceId: string, fields?: Record<string, unknown>) => Promise<Backup>;
  /** Waits for the end of an operation, and fails the test unless it succeeded. */
  until: (operationId: string | null, status?: "succeeded" | "failed") => Promise<EndedOperation>;
  /**
   * The counters of everything that a request has ever created or changed in the account: outcomes are of operations that end
   * later.
   */
  trace: () => Promise<string>;
}

export type EndedOperation = OperationRecord & { result: OperationResult | null };

export { unique, uniqueDatabase, uniqueDomain };

const BackupBody = z.looseObject({ note: z.string().nullable().default(null) });

/** An OpenSSH public key; nobody keeps its private key. */
export const newPublicKey = (comment = "test"): string => createKeyPair(randomBytes(32), comment).public_key;

/** Longer than any operation of the sandbox takes on a busy machine. */
const OPERATION_LIMIT_MS = 90_000;

export interface AccountOptions {
  /**
   * How `server()`, `instance()` and `backup()` create resources: by requests and their workflows, or seeded as those leave them.
   * Seeding costs a tenth, and suits tests about what comes afterwards. Seeded resources have no operations and no events.
   */
  seeded?: boolean;
}

const PASSWORD = `${randomUUID()}!`;
let passwordHash: Promise<string> | undefined;

/** An account with a user and a token: what the operator's commands leave behind, in two writes, and with one hash for all. */
async function makeAccount(name: string, { email, name: userName }: NewUser): Promise<{ user: UserRecord; first: TestToken }> {
  // Tests create a token or a user wherever they need separate limits.
  const record = { ...newAccount(newId("account"), name), limit_token: 10_000, limit_user: 10_000 };
  await putIfAbsent(keys.account(record.id), record);
  const change = startChange(record);
  change.put(keys.accountListed(record.id), { created_at: record.created_at });
  logEvent(change, { operator: "operator", requestId: "test-harness" }, "account.create", {
    type: "account",
    id: record.id,
    name,
  });
  passwordHash ??= hashPassword(PASSWORD);
  const user = reserveUser(change, { id: newId("user"), email, name: userName, password_hash: await passwordHash });
  const first = addToken(change, operatorOf(user), ALL_PERMISSIONS, null);
  await change.commit();
  return { user, first };
}

function addToken(change: Change, by: By, permissions: readonly Permission[], expiresAt: string | null): TestToken {
  const { token, value } = reserveToken(change, by, env().ENVIRONMENT, {
    name: unique("token"),
    permissions: [...permissions],
    expires_at: expiresAt,
  });
  return { id: token.id, value, api: clientWith(value) };
}

export async function account({ seeded = false }: AccountOptions = {}): Promise<TestAccount> {
  apiUrl(); // chooses the cloud before the data functions are called
  const name = unique("account");
  const newUser = { email: `${name}@example.com`, name: `Owner of ${name}`, password: PASSWORD };
  const { user, first } = await makeAccount(name, newUser);
  const accountId = user.account_id;
  const by = operatorOf(user);

  const token: TestAccount["token"] = async (permissions = ALL_PERMISSIONS, expiresAt = null) => {
    const change = startChange({ id: accountId });
    const created = addToken(change, by, permissions, expiresAt);
    await change.commit();
    return created;
  };

  const session: TestAccount["session"] = async ({ email, password } = newUser) =>
    clientWith((await anonymous.post("/auth/login", { email, password })).as(auth.login().data).token);

  const until: TestAccount["until"] = async (operationId, status = "succeeded") => {
    if (operationId === null) throw new Error("There is no operation to wait for");
    const limit = Date.now() + OPERATION_LIMIT_MS;
    // The longer it takes, the less often: what looks costs the work that it looks at.
    for (let pauseMs = 15; ; pauseMs = Math.min(pauseMs * 1.4, 200)) {
      const operation = await findOperation(accountId, operationId);
      if (operation !== undefined && !isOpen(operation.state)) {
        if (operation.state === status) return operation;
        throw new Error(`${operation.type} ${operation.state}: ${JSON.stringify(operation.error)}`);
      }
      if (Date.now() > limit)
        throw new Error(`After ${OPERATION_LIMIT_MS} ms ${operationId} is still ${JSON.stringify(operation)}`);
      await sleep(pauseMs);
    }
  };

  const sshKey: TestAccount["sshKey"] = async () => {
    const change = startChange({ id: accountId });
    const key = reserveSshKey(change, { name: "Test key", ...parseSshKey(newPublicKey()) });
    await change.commit();
    return key;
  };

  let keyId: Promise<string> | undefined;
  const serverBody: TestAccount["serverBody"] = async (fields = {}) => ({
    name: unique("erp"),
    ...(await offer(first.api)),
    ssh_key_id: await (keyId ??= sshKey().then((key) => key.id)),
    ...fields,
  });

  const server: TestAccount["server"] = async (fields) => {
    const { api } = await token();
    const body = await serverBody(fields);
    const make = async (): Promise<string> => {
      const created = (await api.post("/servers", body)).as(Server);
      await until(created.operation_id);
      return created.id;
    };
    const serverId = seeded ? await seedActiveServer(accountId, body) : await make();
    return (await api.get(`/servers/${serverId}`)).as(Server);
  };

  let home: Promise<string> | undefined;
  const instanceBody: TestAccount["instanceBody"] = async (fields = {}) => ({
    name: "Shop",
    server_id: fields["server_id"] ?? (await (home ??= server().then(({ id: serverId }) => serverId))),
    erp_version: "19.0",
    edition: "community",
    database_name: uniqueDatabase(),
    admin_email: "admin@example.com",
    domain: uniqueDomain(),
    ...fields,
  });

  const instance: TestAccount["instance"] = async (fields) => {
    const { api } = await token();
    const body = await instanceBody(fields);
    const make = async (): Promise<string> => {
      const created = (await api.post("/instances", body)).as(Instance);
      await until(created.operation_id);
      return created.id;
    };
    const instanceId = seeded ? await seedRunningInstance(accountId, body) : await make();
    return (await api.get(`/instances/${instanceId}`)).as(Instance);
  };

  const backup: TestAccount["backup"] = async (instanceId, fields = {}) => {
    const { api } = await token();
    const make = async (): Promise<string> => {
      const created = (await api.post(`/instances/${instanceId}/backups`, fields)).as(Backup);
      await until(created.operation_id);
      return created.id;
    };
    const { note, ...otherFields } = BackupBody.parse(fields);
    const isSeeded = seeded && Object.keys(otherFields).length === 0;
    const backupId = isSeeded ? await seedCompletedBackup(accountId, instanceId, note) : await make();
    return (await api.get(`/backups/${backupId}`)).as(Backup);
  };

  const anotherUser: TestAccount["anotherUser"] = async (granted = {}) => {
    const email = `${unique("user")}@example.com`;
    const fields = { email, name: `Name of ${email}`, password: `${randomUUID()}!`, ...granted };
    return { ...fields, id: (await createUser(accountId, fields)).id };
  };

  return {
    id: accountId,
    user: { ...newUser, id: user.id },
    api: first.api,
    tokenId: first.id,
    session,
    anotherUser,
    token,
    sshKey,
    webhook: (deliveries) => seedWebhook(accountId, first.id, deliveries),
    serverBody,
    instanceBody,
    server,
    instance,
    backup,
    until,
    trace: async () =>
      JSON.stringify(await getAccount(accountId), (name, value: unknown) =>
        name === "made_outcome" || name === "made_alert" ? undefined : value,
      ),
  };
}

/** The author of what the harness writes past the API. */
const operatorOf = (user: UserRecord): By => ({
  caller: { account_id: user.account_id, type: "user", id: user.id, name: user.name, permissions: [], ip_address: null },
  requestId: "test-harness",
});

let offered: Promise<{ provider: string; region: string; size: string }> | undefined;

/** The first server that the catalog offers. */
function offer(api: Client): Promise<{ provider: string; region: string; size: string }> {
  offered ??= api.get("/catalog").then((response) => {
    const [provider] = response.as(Catalog).providers;
    const [size] = provider?.sizes ?? [];
    const [region] = size?.regions ?? [];
    if (provider === undefined || size === undefined || region === undefined) throw new Error("The catalog offers no server");
    return { provider: provider.code, region, size: size.code };
  });
  return offered;
}

/** A well-formed ID of nothing. */
export const unusedId = newId;
