// What a request may cost: calls to DynamoDB and its capacity, starts of workflows, the size of a function. The figures are the
// project's own goals: a change that breaks one makes every request slower and more expensive.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { routes } from "../shared/api/index.ts";
import { getAccount } from "../shared/records/accounts.ts";
import { beginBackup } from "../shared/operations/backups/begin-backup.ts";
import { startChange } from "../shared/data/change.ts";
import { getInstance } from "../shared/records/instances.ts";
import { reserveOperation } from "../shared/records/operations.ts";
import { endOperation } from "../shared/operations/work/operation-ends.ts";
import { getServer, moveServerToDeleting } from "../shared/records/servers.ts";
import { newId } from "../shared/domain/ids.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import { account, newPublicKey, type TestAccount, unique, uniqueDomain, unusedId } from "./harness/account.ts";
import { type ApiResponse, type Client, anonymous } from "./harness/client.ts";
import { ownCloud } from "./harness/cloud.ts";
import type { TestCloud } from "./harness/facts.ts";
import { costIn } from "./harness/cost.ts";
import { holdForGood } from "./harness/held-work.ts";
import { bodyOf, closedRoutes } from "./harness/requests.ts";
import { some } from "./harness/some.ts";
import { seedActiveServer, seedRunningInstance } from "./harness/seed-sandbox.ts";
import { seedAlert, seedBackup, seedDeploy, seededDeliveries, seedInstance, seedInvitation, seedServer } from "./harness/seed.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud();
  holdForGood(cloud);
  me = await account();
  for (const kind of ["server", "instance", "webhook"] as const) await setQuota(me.id, kind, 10_000);
});

const costOf = (id: string, request: () => Promise<ApiResponse>) => costIn(cloud, id, request);

interface Row {
  status: number;
  /** The limit of the DynamoDB calls of the endpoint's function. */
  calls: number;
  starts?: number;
  /** How many entries the request finds missing, and makes. */
  misses?: number;
  /** Creates what the request needs, and returns the request. */
  prepare: () => Promise<(api: Client, headers: Record<string, string>) => Promise<ApiResponse>>;
}

const get =
  (path: (id: string) => string, make: () => Promise<{ id: string }> = () => Promise.resolve({ id: "" })): Row["prepare"] =>
  async () => {
    const { id } = await make();
    return (api) => api.get(path(id));
  };
const post =
  (make: () => Promise<[path: string, body?: unknown]>): Row["prepare"] =>
  async () => {
    const [path, body] = await make();
    return (api, headers) => api.post(path, body, { headers });
  };
const put =
  (make: () => Promise<[path: string, body: unknown]>): Row["prepare"] =>
  async () => {
    const [path, body] = await make();
    return (api) => api.put(path, body);
  };
/** The body of an endpoint's example, which proves nothing. */
const exampleOf = (id: string) => {
  const route = closedRoutes.find((each) => each.id === id);
  return route && bodyOf(route);
};
const remove =
  (make: () => Promise<string>): Row["prepare"] =>
  async () => {
    const path = await make();
    return (api) => api.delete(path);
  };

const server = () => seedServer(me.id);
const instance = (fields: Parameters<typeof seedInstance>[1] = {}) => seedInstance(me.id, fields);
const backup = async () => seedBackup(await instance());
const failedImport = async () =>
  seedBackup(await instance(), {
    kind: "uploaded",
    state: "failed",
    upload: { store_id: "an upload", size_bytes: 1000, sha256: "0".repeat(64) },
  });
const invitation = () => seedInvitation(me);
const POLICY = { schedule: "0 2 * * *", keep: { daily: 7 } };
const policy = async () => {
  const { id } = await instance();
  await (await me.token()).api.put(`/instances/${id}/backup-policy`, POLICY);
  return { id };
};
const deployed = async () => {
  const newInstance = await instance();
  await seedDeploy(newInstance);
  return newInstance;
};
const operation = async () => {
  const response = await me.api.post("/servers", await me.serverBody());
  return { id: response.as(z.looseObject({ operation_id: z.string() })).operation_id };
};

/** Each in place of the one before: an account may have three that are unfinished. */
let unfinished: string | undefined;
const anew = async (): Promise<Client> => {
  const { api } = await me.token();
  if (unfinished !== undefined) await api.delete(`/backups/uploads/${unfinished}`);
  unfinished = undefined;
  return api;
};
const noted = (response: ApiResponse): ApiResponse => {
  unfinished = response.as(z.looseObject({ id: z.string() })).id;
  return response;
};
const upload = async () =>
  noted(await (await anew()).post("/backups/uploads", { size_bytes: 1000 })).as(z.looseObject({ id: z.string() }));

/** The session that a client is signed in with. */
const sessionId = ({ token = "" }: Client): string =>
  z.looseObject({ sid: z.string() }).parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())).sid;

/**
 * Reading one record takes 1 call, a list 2, a creation 2: a read and a transaction. What needs a fresh proof of a second factor
 * takes one more in a session. Higher limits say why.
 */
const BUDGET: Record<string, Row> = {
  "servers.list": { status: 200, calls: 3, prepare: get(() => "/servers") },
  "servers.get": { status: 200, calls: 1, prepare: get((id) => `/servers/${id}`, server) },
  "servers.create": { status: 201, calls: 2, starts: 1, prepare: post(async () => ["/servers", await me.serverBody()]) },
  "servers.update": {
    status: 200,
    calls: 2,
    prepare: put(async () => [`/servers/${(await server()).id}`, { name: unique("new") }]),
  },
  // The server, and the minutes.
  "servers.metrics": { status: 200, calls: 2, prepare: get((id) => `/servers/${id}/metrics`, server) },
  "servers.delete": { status: 202, calls: 2, starts: 1, prepare: remove(async () => `/servers/${(await server()).id}`) },
  "servers.act": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async () => [`/servers/${(await server()).id}/actions`, { action: "reboot" }]),
  },
  // One more for the servers, because their states decide what is allowed.
  "instances.list": { status: 200, calls: 3, prepare: get(() => "/instances") },
  "instances.get": { status: 200, calls: 2, prepare: get((id) => `/instances/${id}`, instance) },
  "instances.create": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async () => ["/instances", await me.instanceBody({ server_id: (await server()).id })]),
  },
  // The instance, and the minutes.
  "instances.metrics": { status: 200, calls: 2, prepare: get((id) => `/instances/${id}/metrics`, instance) },
  // The instance and its server; the limits, made first, taken and given back (4); when it was last noted, and the note (3).
  "instances.logs": {
    status: 200,
    calls: 9,
    prepare: get(
      (id) => `/instances/${id}/logs`,
      async () => {
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
    prepare: put(async () => [`/instances/${(await instance()).id}`, { name: "New" }]),
  },
  "instances.delete": { status: 202, calls: 2, starts: 1, prepare: remove(async () => `/instances/${(await instance()).id}`) },
  "instances.clone": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async () => {
      const { id, instance_id } = await backup();
      return [`/instances/${instance_id}/clone`, { name: "Copy", domain: uniqueDomain(), backup_id: id }];
    }),
  },
  "instances.act": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async () => [`/instances/${(await instance()).id}/actions`, { action: "restart" }]),
  },
  "backups.list": { status: 200, calls: 2, prepare: get(() => "/backups") },
  "backups.listOfInstance": {
    status: 200,
    calls: 2,
    prepare: get(
      (id) => `/instances/${id}/backups`,
      async () => ({ id: String((await backup()).instance_id) }),
    ),
  },
  "backups.create": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async () => [`/instances/${(await instance()).id}/backups`]),
  },
  "backupPolicy.get": { status: 200, calls: 1, prepare: get((id) => `/instances/${id}/backup-policy`, policy) },
  "backupPolicy.update": {
    status: 200,
    calls: 2,
    prepare: put(async () => [`/instances/${(await policy()).id}/backup-policy`, { ...POLICY, timezone: "Europe/Berlin" }]),
  },
  "code.get": { status: 200, calls: 1, prepare: get((id) => `/instances/${id}/code`, instance) },
  "code.update": {
    status: 200,
    calls: 2,
    prepare: put(async () => [`/instances/${(await instance()).id}/code`, { install_modules: ["acme"] }]),
  },
  "code.check": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async () => [`/instances/${(await instance()).id}/code/check`]),
  },
  "code.rotateHook": {
    status: 200,
    calls: 2,
    prepare: post(async () => [`/instances/${(await instance()).id}/code/rotate-hook`, {}]),
  },
  "deploys.listOfInstance": { status: 200, calls: 2, prepare: get((id) => `/instances/${id}/deploys`, deployed) },
  "deploys.get": {
    status: 200,
    calls: 1,
    prepare: get(
      (id) => `/deploys/${id}`,
      async () => ({ id: await seedDeploy(await instance()) }),
    ),
  },
  "deploys.create": {
    status: 201,
    calls: 2,
    starts: 1,
    prepare: post(async () => [`/instances/${(await instance()).id}/deploys`, {}]),
  },
  "backupPolicy.delete": {
    status: 200,
    calls: 2,
    prepare: remove(async () => `/instances/${(await policy()).id}/backup-policy`),
  },
  "backups.get": { status: 200, calls: 1, prepare: get((id) => `/backups/${id}`, backup) },
  "backups.update": {
    status: 200,
    calls: 2,
    prepare: put(async () => [`/backups/${(await backup()).id}`, { locked: true }]),
  },
  "backups.delete": { status: 202, calls: 2, starts: 1, prepare: remove(async () => `/backups/${(await backup()).id}`) },
  // The backup names the instance to read.
  "backups.drill": { status: 202, calls: 3, starts: 1, prepare: post(async () => [`/backups/${(await backup()).id}/drill`]) },
  "backups.import": {
    status: 202,
    calls: 2,
    starts: 1,
    prepare: post(async () => [`/backups/${(await failedImport()).id}/import`, { server_id: (await server()).id }]),
  },
  "backups.restore": { status: 202, calls: 3, starts: 1, prepare: post(async () => [`/backups/${(await backup()).id}/restore`]) },
  // The second writes its entry in the audit log.
  "backups.download": { status: 200, calls: 2, prepare: get((id) => `/backups/${id}/download`, backup) },
  "uploads.create": {
    status: 201,
    calls: 2,
    prepare: async () => {
      await anew();
      return async (api, headers) => noted(await api.post("/backups/uploads", { size_bytes: 1000 }, { headers }));
    },
  },
  "uploads.get": { status: 200, calls: 1, prepare: get((id) => `/backups/uploads/${id}`, upload) },
  // The first addresses begin the multipart upload, and record it.
  "uploads.parts": {
    status: 200,
    calls: 3,
    prepare: post(async () => [
      `/backups/uploads/${(await upload()).id}/parts`,
      { parts: [{ number: 1, sha256: "0".repeat(64) }] },
    ]),
  },
  // The upload is completed without its parts, which are in the storage. A rejected request looks up its key.
  "uploads.complete": {
    status: 409,
    calls: 2,
    prepare: post(async () => [
      `/backups/uploads/${(await upload()).id}/complete`,
      { sha256: "0".repeat(64), server_id: (await server()).id },
    ]),
  },
  "uploads.delete": { status: 200, calls: 2, prepare: remove(async () => `/backups/uploads/${(await upload()).id}`) },
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
    prepare: post(async () => [`/operations/${(await operation()).id}/actions`, { action: "pause" }]),
  },
  // The account, the selection, and the change.
  "bulk.run": {
    status: 202,
    calls: 3,
    starts: 1,
    prepare: post(async () => [
      "/bulk",
      { action: "set_labels", select: { ids: [(await instance()).id] }, parameters: { remove: ["unused"] } },
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
      () => me.sshKey(),
    ),
  },
  "sshKeys.delete": { status: 200, calls: 2, prepare: remove(async () => `/ssh-keys/${(await me.sshKey()).id}`) },
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
      async () => ({ id: await seedAlert(await seedServer(me.id)) }),
    ),
  },
  "alerts.update": {
    status: 200,
    calls: 2,
    prepare: put(async () => [`/alerts/${await seedAlert(await seedServer(me.id))}`, { muted_until: null }]),
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
      () => me.webhook().then((id) => ({ id })),
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
      () => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.update": { status: 200, calls: 2, prepare: put(async () => [`/webhooks/${await me.webhook()}`, { name: "Other" }]) },
  "webhooks.delete": { status: 200, calls: 2, prepare: remove(async () => `/webhooks/${await me.webhook()}`) },
  // How its tests go, the event, the delivery with its body, and what becomes of it.
  "webhooks.test": { status: 200, calls: 14, prepare: post(async () => [`/webhooks/${await me.webhook()}/test`]) },
  "webhooks.rotateSecret": {
    status: 200,
    calls: 2,
    prepare: post(async () => [`/webhooks/${await me.webhook()}/rotate-secret`]),
  },
  "webhooks.listDeliveries": {
    status: 200,
    calls: 2,
    prepare: get(
      (id) => `/webhooks/${id}/deliveries`,
      () => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.getDelivery": {
    status: 200,
    calls: 2,
    prepare: get(
      (id) => `/webhooks/${id}/deliveries/${seededDeliveries.get(id) ?? ""}`,
      () => me.webhook().then((id) => ({ id })),
    ),
  },
  "webhooks.redeliver": {
    status: 200,
    calls: 6,
    prepare: post(async () => {
      const id = await me.webhook();
      return [`/webhooks/${id}/deliveries/${seededDeliveries.get(id) ?? ""}/redeliver`];
    }),
  },
  // Three for each of the two deliveries.
  "webhooks.redeliverFailed": {
    status: 200,
    calls: 9,
    prepare: post(async () => [`/webhooks/${await me.webhook()}/redeliver`, { since: "2026-01-01T00:00:00Z" }]),
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
      () => me.token(),
    ),
  },
  // The token is stored under its fingerprint, not in the account.
  // Besides the token's two parts, the webhooks that act for it.
  "tokens.rotate": { status: 201, calls: 5, prepare: post(async () => [`/tokens/${(await me.token()).id}/rotate`, {}]) },
  "tokens.delete": { status: 200, calls: 3, prepare: remove(async () => `/tokens/${(await me.token()).id}`) },
  "users.list": { status: 200, calls: 2, prepare: get(() => "/users") },
  "users.get": {
    status: 200,
    calls: 2, // one after the other, as of a token
    prepare: get(
      (id) => `/users/${id}`,
      () => me.anotherUser(),
    ),
  },
  "users.update": {
    status: 200,
    calls: 4,
    prepare: put(async () => [`/users/${(await me.anotherUser()).id}`, { name: "New" }]),
  },
  // The second factors go with the user; the tokens that the user created are listed afterwards.
  // The invitations of their email go, too.
  "users.delete": { status: 200, calls: 9, prepare: remove(async () => `/users/${(await me.anotherUser()).id}`) },
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
    prepare: post(async () => [`/users/invitations/${await invitation()}/resend`, {}]),
  },
  "invitations.delete": { status: 200, calls: 3, prepare: remove(async () => `/users/invitations/${await invitation()}`) },
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
    prepare: remove(async () => `/users/${(await me.anotherUser()).id}/second-factors`),
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
    prepare: put(async () => [`/sandbox/instances/${(await instance()).id}/data`, { a: 1 }]),
  },
};

test("every endpoint that needs a credential has a budget", () => {
  expect(Object.keys(BUDGET).toSorted(), "a new endpoint has a row in BUDGET of this file").toEqual(
    closedRoutes.map(({ id }) => id).toSorted(),
  );
});

const byRoute = Object.entries(BUDGET).map(([id, row]) => ({
  id,
  ...row,
  idempotent: routes.find((route) => route.id === id)?.idempotent ?? false,
}));
const tokens = new Map<string, Client>();

/** One token for an endpoint: with more than 100, their list takes one read more. A session may end with its request. */
async function clientFor(id: string): Promise<Client> {
  if (routes.find((route) => route.id === id)?.access === "session") return me.session(await me.anotherUser());
  const client = tokens.get(id) ?? (await me.token()).api;
  tokens.set(id, client);
  return client;
}

const requests = [
  ...some(byRoute, 4).map((row) => ({ ...row, how: "alone", keyed: false })),
  ...some(
    byRoute.filter(({ idempotent }) => idempotent),
    8,
  ).map((row) => ({
    ...row,
    how: "with an Idempotency-Key",
    keyed: true,
  })),
];

test.each(requests)(
  "$id $how costs 1 call in the authorizer and at most $calls in the handler",
  async ({ id, keyed, ...row }) => {
    const measure = async () => {
      const [request, api] = [await row.prepare(), await clientFor(id)];
      const headers: Record<string, string> = keyed ? { "idempotency-key": unique("figures") } : {};
      return costOf(id, () => request(api, headers));
    };
    const first = await measure();
    const callsOf = ({ authorizer, handler }: typeof first) => [...authorizer, ...handler];
    const isWarm =
      first.authorizer.length === 1 &&
      first.handler.length <= row.calls &&
      callsOf(first).filter(({ error }) => error !== undefined).length === (row.misses ?? 0);
    // What a warm function has in memory (keys, catalog, the next slot) is not counted.
    const { response, authorizer, handler, starts } = isWarm ? first : await measure();
    expect(response.status, response.text).toBe(row.status);
    expect(authorizer.map(({ action }) => action)).toEqual(["UpdateItem"]);
    expect(handler.length, handler.map(({ action }) => action).join(", ")).toBeLessThanOrEqual(row.calls);
    expect(starts.map(({ action }) => action)).toEqual(Array.from({ length: row.starts ?? 0 }, () => "StartExecution"));
    const errors = [...authorizer, ...handler, ...starts].flatMap(({ error }) => error ?? []);
    expect(errors).toEqual(Array.from({ length: row.misses ?? 0 }, () => "ConditionalCheckFailedException"));
  },
);

test("a request that waits costs one call in the authorizer too, and polls seldom", async () => {
  const { api } = await me.token();
  const { id } = await seedServer(me.id);
  const operationId = newId("operation");
  const change = startChange(await getAccount(me.id));
  moveServerToDeleting(change, await getServer(me.id, id), operationId);
  const resource = { type: "server", id, name: "erp" } as const;
  reserveOperation(change, { operator: "test", requestId: "test" }, { id: operationId, type: "server.delete", resource });
  await change.commit();
  await api.get(`/operations/${operationId}`);
  const { authorizer, handler } = await costOf("operations.get", () => api.get(`/operations/${operationId}?wait=2`));
  expect(authorizer.map(({ action }) => action)).toEqual(["UpdateItem"]);
  const looks = handler.filter(({ action }) => action === "GetItem").length;
  expect([looks, handler.length]).toEqual([looks, looks + 1]);
  expect(looks).toBeLessThanOrEqual(6);
});

test("a page of a resource's operations costs one more call for the linked ones, however many there are", async () => {
  const { id } = await seedInstance(me.id);
  const caller = { account_id: me.id, type: "user", id: me.user.id, name: "", permissions: [], ip_address: null } as const;
  const by = { caller: { ...caller, permissions: [] }, requestId: "test" };
  for (let i = 0; i < 3; i++) {
    const instance = await getInstance(me.id, id);
    const change = startChange(await getAccount(me.id));
    const { operation } = beginBackup({ change, by, operationId: newId("operation") }, instance, {});
    await change.commit();
    await endOperation(operation, { succeeded: true });
  }
  await me.api.get(`/operations?resource_id=${id}`);
  const { response, handler } = await costOf("operations.list", () => me.api.get(`/operations?resource_id=${id}`));
  expect(response.meta?.total).toBe(3);
  expect(handler.map(({ action }) => action)).toEqual(["Query", "BatchGetItem"]);
});

test("a request that fails before any lookup costs no read", async () => {
  for (const token of [undefined, "nonsense", "svc_test_short", "svc_live_" + "a".repeat(36), "a.b.c"]) {
    const { response, authorizer, handler } = await costOf("servers.list", () =>
      anonymous.get("/servers", token === undefined ? {} : { token }),
    );
    expect(response.status).toBe(401);
    expect([authorizer, handler]).toEqual([[], []]);
  }
});

test("public endpoints cost no call", async () => {
  for (const [id, path] of [
    ["health.get", "/health"],
    ["openapi.get", "/openapi.json"],
  ] as const)
    expect(await costOf(id, () => anonymous.get(path))).toMatchObject({ authorizer: [], handler: [] });
});

test("a malformed request costs only the authorizer's call", async () => {
  await me.api.post("/servers", {});
  const { authorizer, handler } = await costOf("servers.create", () => me.api.post("/servers", {}));
  expect([authorizer.length, handler.length]).toEqual([1, 0]);
});
