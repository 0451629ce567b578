// What the event of a change names: every field that the request can change, of whatever resource. Fields and events have words.
import { expect, test } from "vitest";
import * as z from "zod";
import { events } from "../../dashboard/src/messages/en/events.ts";
import { keys } from "../../shared/data/keys.ts";
import { transact } from "../../shared/data/table.ts";
import { put } from "../../shared/data/writes.ts";
import { EVENT_TYPES } from "../../shared/domain/event-types.ts";
import { OPERATION_TYPES } from "../../shared/domain/lifecycle.ts";
import { DEFAULT_QUOTAS } from "../../shared/domain/limits.ts";
import { KEEP_RULES } from "../../shared/domain/retention.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { bodyRoutes, fieldsOf, idKindOf, pathOf } from "../harness/requests.ts";
import { seedAlert, seedBackup, seedInstance } from "../harness/seed.ts";
import { unique } from "../harness/unique.ts";

/** Valid values other than the records have; a new field needs one. */
const VALUES: Readonly<Record<string, unknown>> = {
  name: unique("renamed"),
  labels: { env: "new" },
  admin_email: "other@example.com",
  disk_quota_bytes: 5_000_000_000,
  domain: uniqueDomain(),
  note: "other",
  locked: true,
  schedule: "7 3 * * *",
  timezone: "Europe/Berlin",
  keep: { last: 3 },
  drill_every_days: 9,
  enabled: false,
  url: "https://flaky.example/other",
  events: ["token.create"],
  account_name: "Other Ltd",
  contact_email: "contact@example.com",
  default_provider: "sandbox",
  default_region: "eu-central",
  backup_retention_days: 11,
  default_backup_policy: { schedule: "0 1 * * *", keep: { last: 1 } },
  token_max_days: 365,
  require_second_factor: "admins",
  allowed_ips: ["127.0.0.0/8"],
  role: "custom",
  permissions: ["servers:read"],
  notifications: { email: "all" },
  muted_until: new Date(Date.now() + 86_400_000).toISOString(),
  disk_free_percent: [20],
  memory_free_percent: [20],
  disk_quota_percent: 80,
  certificate_days: 20,
  error_rate_percent: 9,
  down_minutes: 9,
  cpu_percent: 90,
  backup_overdue: null,
  drill_failed: null,
  operation_failed: null,
  token_expiry_days: [7],
  repositories: [{ url: "https://git.example/acme", ref: "main" }],
  python_packages: ["num2words==0.5.13"],
  allow_source_builds: true,
  install_modules: ["acme"],
  environment: [{ name: "CARRIER_URL", value: "https://carrier.example" }],
  auto_deploy: "push",
  image: { follow: "newest" },
};

/** Those of the sandbox have no events, and test/auth and test/sso test the others. */
const updates = bodyRoutes.filter(
  ({ method, only, path }) => method === "PUT" && only === undefined && !path.startsWith("/auth") && path !== "/settings/sso",
);

const Changes = z.array(z.looseObject({ field: z.string() }));
const Events = z.array(z.looseObject({ data: z.looseObject({ changes: Changes.optional() }).nullable() }));

test("the event of a change names every field that a PUT takes", async () => {
  const me = await account();
  const instance = await seedInstance(me.id);
  const { server_id } = instance;
  await transact([put(keys.watchedServer(server_id), { account_id: me.id, server_id })]);
  const backup = await seedBackup(instance);
  const ids: Record<string, string> = {
    server: instance.server_id,
    instance: instance.id,
    backup: backup.id,
    webhook: await me.webhook(),
    user: (await me.anotherUser()).id,
    alert: await seedAlert(await getServer(me.id, server_id)),
  };
  const session = await me.session();
  // The event of a policy is its instance's, and that of an alert its server's.
  for (const route of updates) {
    const fields = fieldsOf(route.body).fields.map(([name]) => name);
    const id = route.path.includes(":id") ? (ids[idKindOf(route)] ?? "") : me.id;
    const body = Object.fromEntries(fields.map((name) => [name, VALUES[name]]));
    const response = await session.put(pathOf(route, id), body);
    expect(response.status, `${route.path} ${response.text}`).toBe(200);
    const listed = await me.api.get(`/events?resource_id=${id === ids["alert"] ? server_id : id}`);
    const [newest = []] = listed.as(Events).flatMap(({ data }) => (data?.changes ? [data.changes] : []));
    const sentence = `PUT ${route.path} stores each field of its body, of which VALUES has a new value, and its event names it`;
    expect(newest.map(({ field }) => field).toSorted(), sentence).toEqual(fields.toSorted());
  }
});

test("each field that an event names has a label in dashboard/src/messages/en/events.ts", () => {
  const fields = [
    ...updates.flatMap(({ body }) => fieldsOf(body).fields.map(([name]) => name)),
    ...Object.keys(DEFAULT_QUOTAS).map((kind) => `limit_${kind}`),
    "limit_repositories",
    "password",
    "secret",
    "passkey",
    "totp",
    "recovery_codes",
    "sso",
    "last4",
    "expires_at",
    "replaced_by",
    "invited_by",
    ...KEEP_RULES,
  ];
  expect(fields.filter((field) => !(field in events.fields))).toEqual([]);
});

test("each event that is no operation has words in dashboard/src/messages/en/events.ts", () => {
  const isOfOperation = (type: string) =>
    OPERATION_TYPES.some((operation) => type === operation || type.startsWith(`${operation}.`));
  const types = Object.keys(EVENT_TYPES).filter((type) => !isOfOperation(type));
  expect(types.filter((type) => !(type in events.actions))).toEqual([]);
});
