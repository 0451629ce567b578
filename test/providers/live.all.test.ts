// The live environment as deployed: the operator's settings, the catalog that results from them, and who can read the settings.
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stackName } from "../../infra/settings.ts";
import { Catalog, type CatalogProvider } from "../../shared/api/catalog.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { isThere } from "./fake.ts";
import { configurationOf, type Fakes, isOrder, PROVIDERS, type Rented, RENTED, startFakes } from "./table.ts";

const READERS = [
  "read-logs",
  "tasks.create-server",
  "tasks.delete-server",
  "tasks.reboot-server",
  "tasks.update-server",
  "tasks.create-instance",
  "tasks.start-instance",
  "tasks.restart-instance",
  "tasks.clone-instance",
  "tasks.drill-backup",
  "tasks.import-backup",
  "tasks.restore-backup",
  "tasks.check-code-instance",
  "tasks.deploy-instance",
  "schedules.check-servers",
  "schedules.sweep",
  "schedules.refresh-catalog",
];

let cloud: TestCloud;
let fakes: Fakes;
let me: TestAccount;
let api: Client;
let secretArn: string;
beforeAll(async () => {
  fakes = await startFakes();
  afterAll(() => Promise.all(RENTED.map((provider) => fakes[provider].stop())));
  cloud = await ownCloud({ stack: stackName("live") });
  me = await account();
  api = await me.session();
  secretArn = cloud.template.secrets.find(({ logicalId }) => logicalId.startsWith("providers"))?.arn ?? "";
});

async function set(configuration: unknown): Promise<void> {
  const { AWS_ENDPOINT_URL: endpoint = "", AWS_REGION: region = "" } = cloud.operator.environment;
  const client = new SecretsManagerClient({ endpoint, region, credentials: cloud.operator });
  await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: JSON.stringify(configuration) }));
}

const dollars = { price: { monthly: 24, hourly: 0.03571, currency: "USD" }, region_prices: {} };
const euro = (monthly: number) => ({ monthly, hourly: 0.006, currency: "EUR" });
const euros = (monthly: number, byRegion: Record<string, number> = {}) => ({
  price: euro(monthly),
  region_prices: Object.fromEntries(Object.entries(byRegion).map(([region, each]) => [region, euro(each)])),
});
/** What the fakes have for us. */
const OFFERS: Record<Rented, CatalogProvider> = {
  digitalocean: {
    code: "digitalocean",
    name: "DigitalOcean",
    regions: [
      { code: "fra1", name: "Frankfurt 1" },
      { code: "nyc3", name: "New York 3" },
    ],
    sizes: [
      { code: "s-2vcpu-4gb", cpu: 2, memory_gb: 4, disk_gb: 80, regions: ["fra1", "nyc3"], ...dollars },
      { code: "s-4vcpu-8gb", cpu: 4, memory_gb: 8, disk_gb: 160, regions: ["nyc3"], ...dollars },
    ],
  },
  hetzner: {
    code: "hetzner",
    name: "Hetzner",
    regions: [
      { code: "fsn1", name: "Falkenstein, DE" },
      { code: "hel1", name: "Helsinki, FI" },
    ],
    sizes: [
      { code: "cx22", cpu: 2, memory_gb: 4, disk_gb: 40, regions: ["fsn1", "hel1"], ...euros(3.79, { hel1: 4.49 }) },
      { code: "cax11", cpu: 2, memory_gb: 4, disk_gb: 40, regions: ["fsn1"], ...euros(3.79) },
      { code: "cpx11", cpu: 2, memory_gb: 2, disk_gb: 40, regions: ["hel1"], ...euros(4.49) },
    ],
  },
};

const catalog = async (): Promise<Catalog> => (await api.get("/catalog")).as(Catalog);

test("only functions that need the operator's configuration know where it is and can read it", () => {
  const readers = cloud.template.functions.filter(({ environment }) => "PROVIDERS_SECRET" in environment);
  expect(readers.map(({ directory = "" }) => directory.replace(/^.*asset\.\w+\./, ""))).toHaveLength(READERS.length);
  const roles = cloud.template.roles.filter(({ policies }) => JSON.stringify(policies).includes(secretArn)).map(({ arn }) => arn);
  expect(new Set(readers.map(({ role }) => role))).toEqual(new Set(roles));
  expect(cloud.template.functions.filter(({ role }) => roles.includes(role))).toHaveLength(READERS.length);
});

test("the catalog is empty before a provider is configured, and a request fails with that reason", async () => {
  expect(await catalog()).toMatchObject({ providers: [], editions: ["community"] });
  const body = { name: unique("erp"), provider: "hetzner", region: "fsn1", size: "cx22", ssh_key_id: (await me.sshKey()).id };
  const { status, error } = await api.post("/servers", body);
  expect([status, error?.details]).toMatchObject([
    422,
    { field: "provider", reason: "no provider is available at the moment; contact the operator" },
  ]);
});

test("after a refresh the catalog has the providers' offers, without those that are too small, deprecated, closed or not for us", async () => {
  await set(configurationOf(fakes));
  await cloud.events.fire("refreshcatalog");
  await expect.poll(async () => (await catalog()).providers, { interval: 2_000 }).toHaveLength(RENTED.length);
  expect((await catalog()).providers).toEqual(RENTED.toSorted().map((provider) => OFFERS[provider]));
});

test("a provider that does not respond keeps its offers, and the others are refreshed", async () => {
  const others = RENTED.filter((provider) => provider !== "hetzner");
  fakes.hetzner.fault = () => ({ kind: "dropped" });
  for (const provider of others) fakes[provider].requests.length = 0;
  await cloud.events.fire("refreshcatalog").catch(() => undefined);
  fakes.hetzner.fault = () => undefined;
  for (const provider of others) expect(fakes[provider].requests.length, provider).toBeGreaterThan(0);
  expect((await catalog()).providers.map(({ code }) => code)).toEqual(RENTED.toSorted());
  // The alarm's runbook says that the log names the provider.
  const name = cloud.template.functions.find((each) => /refreshcatalog/i.test(each.name))?.name ?? "";
  await expect.poll(() => cloud.lambda.logs(name).filter((line) => line.includes('"provider":"hetzner"'))).not.toEqual([]);
});

test("a server that its provider rejects shows the reason, and nothing of it is left", async () => {
  const [response] = PROVIDERS.hetzner.outOfCapacity;
  fakes.hetzner.fault = (request) => (isOrder(request) ? { kind: "rejected", response } : undefined);
  const body = { name: unique("erp"), provider: "hetzner", region: "fsn1", size: "cax11", ssh_key_id: (await me.sshKey()).id };
  const server = (await api.post("/servers", body)).as(Server);
  await me.until(server.operation_id, "failed");
  expect((await api.get(`/operations/${server.operation_id}`)).as(Operation).error).toMatchObject({
    code: "PROVIDER_OUT_OF_CAPACITY",
    message:
      "Hetzner has no machine of this size available in this region; try again later, or choose another size or region. " +
      "Hetzner says: As the test asked (resource_unavailable)",
    reason: { code: "provider_said", parameters: { why_code: "provider_out_of_capacity", provider: "Hetzner" } },
  });
  expect((await api.get(`/servers/${server.id}`)).as(Server)).toMatchObject({ status: "offline", ip_address: null });
  await me.until((await api.delete(`/servers/${server.id}`)).as(Operation).id);
  expect((await api.get(`/servers/${server.id}`)).status).toBe(404);
  expect(fakes.hetzner.machines.filter(isThere)).toEqual([]);
});

test("the provider's token is in no log", () => {
  const lines = cloud.template.functions.flatMap(({ name }) => cloud.lambda.logs(name)).concat(cloud.log);
  expect(lines.length).toBeGreaterThan(0);
  for (const provider of RENTED)
    expect(
      lines.filter((line) => line.includes(fakes[provider].token)),
      provider,
    ).toEqual([]);
});
