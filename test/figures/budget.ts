// What each endpoint's request may cost at most: a row for every endpoint that needs a credential.
import * as z from "zod";
import { newPublicKey, type TestAccount, unique, uniqueDomain, unusedId } from "../harness/account.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { bodyOf, closedRoutes } from "../harness/requests.ts";
import { seedActiveServer, seedRunningInstance } from "../harness/seed-sandbox.ts";
import {
  seedAlert,
  seedBackup,
  seedDeploy,
  seededDeliveries,
  seedInstance,
  seedInvitation,
  seedServer,
} from "../harness/seed.ts";

interface Row {
  status: number;
  /** The limit of the DynamoDB calls of the endpoint's function. */
  calls: number;
  starts?: number;
  /** How many entries the request finds missing, and makes. */
  misses?: number;
  /** Creates in an account what the request needs, and returns the request. */
  prepare: (me: TestAccount) => Promise<(api: Client, headers: Record<string, string>) => Promise<ApiResponse>>;
}

const get =
  (
    path: (id: string) => string,
    make: (me: TestAccount) => Promise<{ id: string }> = () => Promise.resolve({ id: "" }),
  ): Row["prepare"] =>
  async (me) => {
    const { id } = await make(me);
    return (api) => api.get(path(id));
  };
const post =
  (make: (me: TestAccount) => Promise<[path: string, body?: unknown]>): Row["prepare"] =>
  async (me) => {
    const [path, body] = await make(me);
    return (api, headers) => api.post(path, body, { headers });
  };
const put =
  (make: (me: TestAccount) => Promise<[path: string, body: unknown]>): Row["prepare"] =>
  async (me) => {
    const [path, body] = await make(me);
    return (api) => api.put(path, body);
  };
/** The body of an endpoint's example, which proves nothing. */
const exampleOf = (id: string) => {
  const route = closedRoutes.find((each) => each.id === id);
  return route && bodyOf(route);
};
const remove =
  (make: (me: TestAccount) => Promise<string>): Row["prepare"] =>
  async (me) => {
    const path = await make(me);
    return (api) => api.delete(path);
  };

const server = (me: TestAccount) => seedServer(me.id);
const instance = (me: TestAccount, fields: Parameters<typeof seedInstance>[1] = {}) => seedInstance(me.id, fields);
const backup = async (me: TestAccount) => seedBackup(await instance(me));
const failedImport = async (me: TestAccount) =>
  seedBackup(await instance(me), {
    kind: "uploaded",
    state: "failed",
    upload: { store_id: "an upload", size_bytes: 1000, sha256: "0".repeat(64) },
  });
const invitation = (me: TestAccount) => seedInvitation(me);
const POLICY = { schedule: "0 2 * * *", keep: { daily: 7 } };
const policy = async (me: TestAccount) => {
  const { id } = await instance(me);
  await (await me.token()).api.put(`/instances/${id}/backup-policy`, POLICY);
  return { id };
};
const deployed = async (me: TestAccount) => {
  const newInstance = await instance(me);
  await seedDeploy(newInstance);
  return newInstance;
};
const operation = async (me: TestAccount) => {
  const response = await me.api.post("/servers", await me.serverBody());
  return { id: response.as(z.looseObject({ operation_id: z.string() })).operation_id };
};

/** Each in place of the one before: an account may have three that are unfinished. */
let unfinished: string | undefined;
const anew = async (me: TestAccount): Promise<Client> => {
  const { api } = await me.token();
  if (unfinished !== undefined) await api.delete(`/backups/uploads/${unfinished}`);
  unfinished = undefined;
  return api;
};
const noted = (response: ApiResponse): ApiResponse => {
  unfinished = response.as(z.looseObject({ id: z.string() })).id;
  return response;
};
const upload = async (me: TestAccount) =>
  noted(await (await anew(me)).post("/backups/uploads", { size_bytes: 1000 })).as(z.looseObject({ id: z.string() }));

/** The session that a client is signed in with. */
const sessionId = ({ token = "" }: Client): string =>
  z.looseObject({ sid: z.string() }).parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())).sid;

/**
 * Reading one record takes 1 call, a list 2, a creation 2: a read and a transaction. What needs a fresh proof of a second factor
 * takes one more in a session. Higher limits say why.
 */
export const BUDGET: Record<string, Row> = {
  "servers.list": { status: 200, calls: 3, prepare: get(() => "/servers") },
  "servers.get": { status: 200, calls: 1, prepare: get((id) => `/servers/${id}`, server) },
  "servers.create": { status: 201, calls: 2, starts: 1, prepare: post(async (me) => ["/servers", await me.serverBody()]) },
  "servers.update": {
    status: 200,
    calls: 2,
    prepare: put(async (me) => [`/servers/${(await server(me)).id}`, { name: unique("new") }]),
  },
  // The server, and the minutes.
  "servers.metrics": { status: 200, calls: 2, prepare: get((id) => `/servers/${id}/metrics`, server) },
  "servers.delete": { status: 202, calls: 2, starts: 1, prepare: remove(async (me) => `/servers/${(await server(me)).id}`) },
  "servers.act": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => [`/servers/${(await server(me)).id}/actions`, { action: "reboot" }]),
  },
  // One more for the servers, because their states decide what is allowed.
  "instances.list": { status: 200, calls: 3, prepare: get(() => "/instances") },
  "instances.get": { status: 200, calls: 2, prepare: get((id) => `/instances/${id}`, instance) },
  "instances.create": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => ["/instances", await me.instanceBody({ server_id: (await server(me)).id })]),
  },
  // The instance, and the minutes.
  "instances.metrics": { status: 200, calls: 2, prepare: get((id) => `/instances/${id}/metrics`, instance) },
  // The instance and its server; the limits, made first, taken and given back (4); when it was last noted, and the note (3).
  "instances.logs": {
    status: 200,
    calls: 9,
    prepare: get(
      (id) => `/instances/${id}/logs`,
      async (me) => {
        const server_id = await seedActiveServer(me.id, await me.serverBody());
        const id = await seedRunningInstance(me.id, await me.instanceBody({ server_id }));
        await (await me.token()).api.get(`/instances/${id}/logs`); // the first one creates what limits the others
        return { id };
      },
    ),
  },
  "instances.update": {
    status: 200,
    calls: 3,
    prepare: put(async (me) => [`/instances/${(await instance(me)).id}`, { name: "New" }]),
  },
  "instances.delete": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: remove(async (me) => `/instances/${(await instance(me)).id}`),
  },
  "instances.clone": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => {
      const { id, instance_id } = await backup(me);
      return [`/instances/${instance_id}/clone`, { name: "Copy", domain: uniqueDomain(), backup_id: id }];
    }),
  },
  "instances.act": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => [`/instances/${(await instance(me)).id}/actions`, { action: "restart" }]),
  },
  "backups.list": { status: 200, calls: 2, prepare: get(() => "/backups") },
  "backups.listOfInstance": {
    status: 200,
    calls: 2,
    prepare: get(
      (id) => `/instances/${id}/backups`,
      async (me) => ({ id: String((await backup(me)).instance_id) }),
    ),
  },
  "backups.create": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => [`/instances/${(await instance(me)).id}/backups`]),
  },
  "backupPolicy.get": { status: 200, calls: 1, prepare: get((id) => `/instances/${id}/backup-policy`, policy) },
  "backupPolicy.update": {
    status: 200,
    calls: 2,
    prepare: put(async (me) => [`/instances/${(await policy(me)).id}/backup-policy`, { ...POLICY, timezone: "Europe/Berlin" }]),
  },
  "code.get": { status: 200, calls: 1, prepare: get((id) => `/instances/${id}/code`, instance) },
  "code.update": {
    status: 200,
    calls: 2,
    prepare: put(async (me) => [`/instances/${(await instance(me)).id}/code`, { install_modules: ["acme"] }]),
  },
  "code.check": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => [`/instances/${(await instance(me)).id}/code/check`]),
  },
  "code.rotateHook": {
    status: 200,
    calls: 2,
    prepare: post(async (me) => [`/instances/${(await instance(me)).id}/code/rotate-hook`, {}]),
  },
  "deploys.listOfInstance": { status: 200, calls: 2, prepare: get((id) => `/instances/${id}/deploys`, deployed) },
  "deploys.get": {
    status: 200,
    calls: 1,
    prepare: get(
      (id) => `/deploys/${id}`,
      async (me) => ({ id: await seedDeploy(await instance(me)) }),
    ),
  },
  "deploys.create": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => [`/instances/${(await instance(me)).id}/deploys`, {}]),
  },
  "backupPolicy.delete": {
    status: 200,
    calls: 2,
    prepare: remove(async (me) => `/instances/${(await policy(me)).id}/backup-policy`),
  },
  "backups.get": { status: 200, calls: 1, prepare: get((id) => `/backups/${id}`, backup) },
  "backups.update": {
    status: 200,
    calls: 2,
    prepare: put(async (me) => [`/backups/${(await backup(me)).id}`, { locked: true }]),
  },
  "backups.delete": { status: 202, calls: 2, starts: 1, prepare: remove(async (me) => `/backups/${(await backup(me)).id}`) },
  // The backup names the instance to read.
  "backups.drill": { status: 202, calls: 3, starts: 1, prepare: post(async (me) => [`/backups/${(await backup(me)).id}/drill`]) },
  "backups.import": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async (me) => [`/backups/${(await failedImport(me)).id}/import`, { server_id: (await server(me)).id }]),
  },
  "backups.restore": {
    status: 202,
    calls: 3,
    starts: 1,
    prepare: post(async (me) => [`/backups/${(await backup(me)).id}/restore`]),
  },
  // The second writes its entry in the audit log.
  "backups.download": { status: 200, calls: 2, prepare: get((id) => `/backups/${id}/download`, backup) },
  "uploads.create": {
    status: 201,
    calls: 2,
    prepare: async (me) => {
      await anew(me);
      return async (api, headers) => noted(await api.post("/backups/uploads", { size_bytes: 1000 }, { headers }));
    },
  },
  "uploads.get": { status: 200, calls: 1, prepare: get((id) => `/backups/uploads/${id}`, upload) },
  // The first addresses begin the multipart upload, and record it.
  "uploads.parts": {
    status: 200,
    calls: 3,
    prepare: post(async (me) => [
      `/backups/uploads/${(await upload(me)).id}/parts`,
      { parts: [{ number: 1, sha256: "0".repeat(64) }] },
    ]),
  },
  // The upload is completed without its parts, which are in the storage. A rejected request looks up its key.
  "uploads.complete": {
    status: 409,
    calls: 2,
    prepare: post(async (me) => [
      `/backups/uploads/${(await upload(me)).id}/complete`,
      { sha256: "0".repeat(64), server_id: (await server(me)).id },
    ]),
  },
  "uploads.delete": { status: 200, calls: 2, prepare: remove(async (me) => `/backups/uploads/${(await upload(me)).id}`) },
  "operations.list": { status: 200, calls: 2, prepare: get(() => "/operations") },
  // The operation and its server, which has no machine yet; the limits, made first, taken and given back.
  "operations.log": { status: 200, calls: 6, misses: 1, prepare: get((id) => `/operations/${id}/log`, operation) },
  "operations.get": { status: 200, calls: 1, prepare: get((id) => `/operations/${id}`, operation) },
  // The operation, then its resources.
  "operations.items": { status: 200, calls: 2, prepare: get((id) => `/operations/${id}/items`, operation) },
  // The operation is no bulk action.
  "operations.act": {
    status: 409,
    calls: 4,
    prepare: post(async (me) => [`/operations/${(await operation(me)).id}/actions`, { action: "pause" }]),
  },
  // The account, the selection, and the change.
  "bulk.run": {
    status: 202,
    calls: 3,
    starts: 1,
    prepare: post(async (me) => [
      "/bulk",
      { action: "set_labels", select: { ids: [(await instance(me)).id] }, parameters: { remove: ["unused"] } },
    ]),
  },
  // The reports; the servers that have reported, and what they last measured, would be more.
  "overview.worst": { status: 200, calls: 1, prepare: get(() => "/overview/worst") },
  // The blocks of the list, the records since then, and whether their instances are still there.
  "overview.nights": { status: 200, calls: 3, prepare: get(() => "/overview/nights?created_after=2026-11-20") },
  "overview.get": { status: 200, calls: 1, prepare: get(() => "/overview") },
  // One for each kind, and one more for each further megabyte of entries.
  "search.find": { status: 200, calls: 3, prepare: get(() => "/search?q=shop") },
  "sshKeys.list": { status: 200, calls: 1, prepare: get(() => "/ssh-keys") },
  "sshKeys.create": {
    status: 201,
    calls: 2,
    prepare: post(() => Promise.resolve(["/ssh-keys", { name: "K", public_key: newPublicKey() }])),
  },
  "sshKeys.get": {
    status: 200,
    calls: 1,
    prepare: get(
      (id) => `/ssh-keys/${id}`,
      (me) => me.sshKey(),
    ),
  },
  "sshKeys.delete": { status: 200, calls: 2, prepare: remove(async (me) => `/ssh-keys/${(await me.sshKey()).id}`) },
  "catalog.get": { status: 200, calls: 0, prepare: get(() => "/catalog") },
  "settings.get": { status: 200, calls: 1, prepare: get(() => "/settings") },
  "settings.update": { status: 200, calls: 2, prepare: put(() => Promise.resolve(["/settings", { backup_retention_days: 9 }])) },
  // The figure includes the outcomes of the operations that the requests of the page began.
  "events.list": { status: 200, calls: 3, prepare: get(() => "/events") },
  "alerts.list": { status: 200, calls: 2, prepare: get(() => "/alerts") },
  "alerts.get": {
    status: 200,
    calls: 1,
    prepare: get(
      (id) => `/alerts/${id}`,
      async (me) => ({ id: await seedAlert(await seedServer(me.id)) }),
    ),
  },
  "alerts.update": {
    status: 200,
    calls: 2,
    prepare: put(async (me) => [`/alerts/${await seedAlert(await seedServer(me.id))}`, { muted_until: null }]),
  },
  "alertSettings.get": { status: 200, calls: 1, prepare: get(() => "/settings/alerts") },
  "alertSettings.update": {
    status: 200,
    calls: 2,
    prepare: put(() => Promise.resolve(["/settings/alerts", { down_minutes: 5 }])),
  },
  "webhooks.list": {
    status: 200,
    calls: 2,
    prepare: get(
      () => "/webhooks",
      (me) => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.create": {
    status: 201,
    calls: 2,
    prepare: post(async () => [
      "/webhooks",
      { name: unique("hook"), url: "https://flaky.example/", events: ["settings.update"] },
    ]),
  },
  "webhooks.get": {
    status: 200,
    calls: 1,
    prepare: get(
      (id) => `/webhooks/${id}`,
      (me) => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.update": {
    status: 200,
    calls: 2,
    prepare: put(async (me) => [`/webhooks/${await me.webhook()}`, { name: "Other" }]),
  },
  "webhooks.delete": { status: 200, calls: 2, prepare: remove(async (me) => `/webhooks/${await me.webhook()}`) },
  // How its tests go, the event, the delivery with its body, and what becomes of it.
  "webhooks.test": { status: 200, calls: 14, prepare: post(async (me) => [`/webhooks/${await me.webhook()}/test`]) },
  "webhooks.rotateSecret": {
    status: 200,
    calls: 2,
    prepare: post(async (me) => [`/webhooks/${await me.webhook()}/rotate-secret`]),
  },
  "webhooks.listDeliveries": {
    status: 200,
    calls: 2,
    prepare: get(
      (id) => `/webhooks/${id}/deliveries`,
      (me) => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.getDelivery": {
    status: 200,
    calls: 2,
    prepare: get(
      (id) => `/webhooks/${id}/deliveries/${seededDeliveries.get(id) ?? ""}`,
      (me) => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.redeliver": {
    status: 200,
    calls: 6,
    prepare: post(async (me) => {
      const id = await me.webhook();
      return [`/webhooks/${id}/deliveries/${seededDeliveries.get(id) ?? ""}/redeliver`];
    }),
  },
  // Three for each of the two deliveries.
  "webhooks.redeliverFailed": {
    status: 200,
    calls: 9,
    prepare: post(async (me) => [`/webhooks/${await me.webhook()}/redeliver`, { since: "2026-01-01T00:00:00Z" }]),
  },
  "tokens.list": { status: 200, calls: 2, prepare: get(() => "/tokens") },
  "tokens.create": {
    status: 201,
    calls: 3,
    prepare: post(() => Promise.resolve(["/tokens", { name: unique("token"), permissions: ["servers:read"] }])),
  },
  "tokens.get": {
    status: 200,
    calls: 2, // one after the other: see tokenWith
    prepare: get(
      (id) => `/tokens/${id}`,
      (me) => me.token(),
    ),
  },
  // The token is stored under its fingerprint, not in the account.
  // Besides the token's two parts, the webhooks that act for it.
  "tokens.rotate": { status: 201, calls: 5, prepare: post(async (me) => [`/tokens/${(await me.token()).id}/rotate`, {}]) },
  "tokens.delete": { status: 200, calls: 3, prepare: remove(async (me) => `/tokens/${(await me.token()).id}`) },
  "users.list": { status: 200, calls: 2, prepare: get(() => "/users") },
  "users.get": {
    status: 200,
    calls: 2, // one after the other, as of a token
    prepare: get(
      (id) => `/users/${id}`,
      (me) => me.anotherUser(),
    ),
  },
  "users.update": {
    status: 200,
    calls: 4,
    prepare: put(async (me) => [`/users/${(await me.anotherUser()).id}`, { name: "New" }]),
  },
  // The second factors go with the user; the tokens that the user created are listed afterwards.
  // The invitations of their email go, too.
  "users.delete": { status: 200, calls: 9, prepare: remove(async (me) => `/users/${(await me.anotherUser()).id}`) },
  // The users say whose invitations are still valid.
  "invitations.list": { status: 200, calls: 3, prepare: get(() => "/users/invitations") },
  // The first of a day creates the account's slots.
  "invitations.create": {
    status: 201,
    calls: 9,
    prepare: post(() => Promise.resolve(["/users/invitations", { email: `${unique("new")}@example.com`, role: "viewer" }])),
  },
  // Whose email it is by now, and which user that is, of whom there is none.
  "invitations.resend": {
    status: 200,
    calls: 8,
    prepare: post(async (me) => [`/users/invitations/${await invitation(me)}/resend`, {}]),
  },
  "invitations.delete": { status: 200, calls: 3, prepare: remove(async (me) => `/users/invitations/${await invitation(me)}`) },
  "auth.listSessions": { status: 200, calls: 2, prepare: get(() => "/auth/sessions") },
  "auth.endSessions": { status: 200, calls: 3, prepare: remove(() => Promise.resolve("/auth/sessions")) },
  "auth.endSession": {
    status: 200,
    calls: 2,
    prepare: () => Promise.resolve((api) => api.delete(`/auth/sessions/${sessionId(api)}`)),
  },
  "secondFactors.list": { status: 200, calls: 1, prepare: get(() => "/auth/second-factors") },
  "secondFactors.beginTotp": { status: 200, calls: 3, prepare: post(() => Promise.resolve(["/auth/second-factors/totp", {}])) },
  // The first wrong proof of a user also makes its limit.
  "secondFactors.confirmTotp": {
    status: 401,
    calls: 7,
    misses: 1,
    prepare: post(() => Promise.resolve(["/auth/second-factors/totp/confirm", { code: "000000" }])),
  },
  "secondFactors.passkeyOptions": {
    status: 200,
    calls: 3,
    prepare: post(() => Promise.resolve(["/auth/second-factors/passkeys/options", {}])),
  },
  "secondFactors.addPasskey": {
    status: 401,
    calls: 6,
    misses: 1,
    prepare: post(() => Promise.resolve(["/auth/second-factors/passkeys", exampleOf("secondFactors.addPasskey")])),
  },
  "secondFactors.delete": {
    status: 404,
    calls: 3,
    prepare: remove(() => Promise.resolve(`/auth/second-factors/${unusedId("second_factor")}`)),
  },
  "secondFactors.renewCodes": {
    status: 409,
    calls: 2,
    prepare: post(() => Promise.resolve(["/auth/second-factors/recovery-codes", {}])),
  },
  "users.deleteSecondFactors": {
    status: 200,
    calls: 5,
    prepare: remove(async (me) => `/users/${(await me.anotherUser()).id}/second-factors`),
  },
  // A failed try takes two slots among the failed sign-ins; the first from an address creates them.
  "auth.reauthenticate": {
    status: 401,
    calls: 6,
    misses: 1,
    prepare: post(() => Promise.resolve(["/auth/reauthenticate", exampleOf("auth.reauthenticate")])),
  },
  "sso.get": { status: 404, calls: 1, prepare: get(() => "/settings/sso") },
  // The issuer of the example leads nowhere.
  "sso.update": { status: 422, calls: 2, prepare: put(() => Promise.resolve(["/settings/sso", exampleOf("sso.update")])) },
  // It looks for links that a request has left that was cut off.
  "sso.delete": { status: 404, calls: 5, prepare: remove(() => Promise.resolve("/settings/sso")) },
  "sso.verifyDomain": {
    status: 404,
    calls: 2,
    prepare: post(() => Promise.resolve(["/settings/sso/domains/example.com/verify", {}])),
  },
  "auth.me": { status: 200, calls: 1, prepare: get(() => "/auth/me") },
  // The session ends first.
  "auth.logout": { status: 200, calls: 3, prepare: post(() => Promise.resolve(["/auth/logout"])) },
  "auth.password": {
    status: 422,
    // A failed try takes two slots among the failed sign-ins; the first from an address creates them.
    calls: 8,
    prepare: put(() => Promise.resolve(["/auth/password", { current_password: "wrong", new_password: "a new long password" }])),
  },
  // The instance and its server, before the sandbox's data.
  "sandbox.getData": { status: 409, calls: 3, prepare: get((id) => `/sandbox/instances/${id}/data`, instance) },
  "sandbox.putRepository": {
    status: 200,
    calls: 2,
    prepare: put(() => Promise.resolve(["/sandbox/repositories/acme", { ref: "main", modules: { acme: "1.1" } }])),
  },
  "sandbox.putDns": {
    status: 200,
    calls: 1,
    prepare: put(() => Promise.resolve(["/sandbox/dns/example.com", { txt: ["erp-sso=1"] }])),
  },
  "sandbox.putData": {
    status: 409,
    calls: 4,
    prepare: put(async (me) => [`/sandbox/instances/${(await instance(me)).id}/data`, { a: 1 }]),
  },
};
