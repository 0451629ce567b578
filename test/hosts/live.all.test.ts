// The live environment, from a request to a machine and back: a real SSH server is the operator's own machine, with a stand-in
// for Docker.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Cloud, variableOf } from "../../infra/local/cloud.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Catalog } from "../../shared/api/catalog.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { keys } from "../../shared/data/keys.ts";
import { putIfAbsent } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { ownLiveCloud } from "../harness/cloud.ts";
import { seedServer } from "../harness/seed.ts";
import { unless } from "../harness/unless.ts";
import { noMachine, PAGES, startMachine, type TestMachine } from "./machine.ts";

const OWN = { name: "office", address: "127.0.0.1", cpu: 2, memory_gb: 4, disk_gb: 40, firewall: false };

describe("the live environment with a machine of the operator's own", unless(noMachine), () => {
  let cloud: Cloud;
  let machine: TestMachine;
  let me: TestAccount;
  let server: Server;
  let instance: Instance;
  beforeAll(async () => {
    cloud = await ownLiveCloud();
    machine = await startMachine();
    machine.docker("cat > /dev/null");
    machine.standIn("dpkg", ":");
    // The proxy's port on the machine; every other call goes to the real one.
    machine.standIn("nsenter", PAGES);
    const { ssh_port: port, host_keys } = machine.server;
    await configure({ tls: "internal", byo: { machines: [{ ...OWN, port, host_key: host_keys[0] }] } });
    await cloud.events.fire("refreshcatalog");
    me = await account();
  });
  afterAll(() => machine.stop());

  async function configure(configuration: unknown): Promise<void> {
    const { environment } = cloud.operator;
    const client = new SecretsManagerClient({ endpoint: cloud.awsUrl, region: environment["AWS_REGION"] ?? "" });
    const SecretId = variableOf(cloud.template, "PROVIDERS_SECRET");
    await client.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(configuration) }));
  }

  test("the live environment offers a machine of your own", async () => {
    const { providers, editions } = (await me.api.get("/catalog")).as(Catalog);
    expect(providers).toMatchObject([{ code: "byo", sizes: [{ code: "office", cpu: 2, memory_gb: 4, disk_gb: 40 }] }]);
    expect(editions).toEqual(["community"]);
  });

  test("a machine of your own becomes a server, and the account's SSH key can sign in", async () => {
    const { id: ssh_key_id, public_key } = await me.sshKey();
    const wish = { name: "erp-1", provider: "byo", region: "own", size: "office", ssh_key_id };
    const { id, operation_id } = (await me.api.post("/servers", wish)).as(Server);
    await me.until(operation_id);
    server = (await me.api.get(`/servers/${id}`)).as(Server);
    expect(server).toMatchObject({ status: "active", ip_address: "127.0.0.1" });
    expect(machine.read("system/root/.ssh/authorized_keys")).toContain(public_key);
  });

  test("an instance on a machine of your own can be backed up to the store", async () => {
    const wish = {
      name: "Shop",
      server_id: server.id,
      erp_version: "19.0",
      edition: "community",
      database_name: "shop",
      admin_email: "admin@example.com",
      domain: "shop.example.com",
    };
    instance = (await me.api.post("/instances", wish)).as(Instance.extend({ admin_password: z.string() }));
    await me.until(instance.operation_id);
    const backup = (await me.api.post(`/instances/${instance.id}/backups`)).as(Backup);
    await me.until(backup.operation_id);
    expect((await me.api.get(`/backups/${backup.id}`)).as(Backup)).toMatchObject({ status: "completed" });
    const { url } = (await me.api.get(`/backups/${backup.id}/download`)).as(z.object({ url: z.url(), expires_at: z.string() }));
    const archive = new Uint8Array(await (await fetch(url)).arrayBuffer());
    expect(Object.keys(unzipSync(archive))).toEqual(expect.arrayContaining(["dump.sql", "manifest.json"]));
  });

  test("a machine reports about itself, however long another one is silent", async () => {
    const certificate = join(machine.notes, "certificate");
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null"];
    const name = ["-subj", "/CN=shop", "-addext", `subjectAltName=DNS:${instance.domain}`];
    execFileSync("openssl", ["req", "-x509", ...key, ...name, "-days", "30", "-out", certificate], { stdio: "ignore" });
    machine.docker(`cat > /dev/null; case "$1" in exec) echo "certificate of ${instance.domain}"; cat ${certificate} ;; esac`);
    const mute = createServer().listen(0, "127.0.0.1");
    await once(mute, "listening");
    const { port } = z.object({ port: z.number() }).parse(mute.address());
    const { host_keys } = machine.server;
    const silent = await seedServer(me.id, {
      provider: "byo",
      machine_id: "mute",
      ip_address: "127.0.0.1",
      ssh_port: port,
      host_keys,
    });
    await putIfAbsent(keys.watchedServer(silent.id), { account_id: me.id, server_id: silent.id });
    const readServer = async () => (await me.api.get(`/servers/${server.id}`)).as(Server);
    /** Whether the report was there before the run was over, which waits five seconds for the silent machine. */
    const reportsMeanwhile = async (): Promise<boolean> => {
      const state = { isOver: false, hasReported: false };
      const run = cloud.events.fire("checkservers").finally(() => (state.isOver = true));
      while (!state.isOver && !state.hasReported) state.hasReported = (await readServer()).reported_at !== null;
      const isMeanwhile = state.hasReported && !state.isOver;
      await run;
      return isMeanwhile;
    };
    // This machine, too, has five seconds. If it is so busy that it misses them, it has them again in the next run.
    await expect.poll(reportsMeanwhile).toBe(true);
    expect((await readServer()).disk_free_bytes).toBeGreaterThan(0);
    const { certificate: reported } = (await me.api.get(`/instances/${instance.id}`)).as(Instance);
    expect(reported).toMatchObject({ status: "valid", expires_at: expect.any(String) });
    expect((await me.api.get(`/servers/${silent.id}`)).as(Server)).toMatchObject({ last_seen_at: null, reported_at: null });
    mute.close();
    machine.docker("cat > /dev/null");
  });

  test("an instance gets no domain that only internal networks know", async () => {
    const { status, body } = await me.api.put(`/instances/${instance.id}`, { domain: "metadata.google.internal" });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("must be a public domain");
  });

  test("a failed job reports the machine's own error", async () => {
    machine.docker('case "$*" in *"up -V -d") echo "$1 has a bad day"; exit 1 ;; esac');
    const { id } = (await me.api.post(`/instances/${instance.id}/actions`, { action: "restart" })).as(Operation);
    const { error } = await me.until(id, "failed");
    expect(error).toMatchObject({ code: "HOST_JOB_FAILED", message: expect.stringContaining("compose has a bad day") });
    machine.docker("cat > /dev/null");
  });

  test("an undo that fails is retried as another job until it succeeds", async () => {
    machine.docker(
      `case "$*" in *"up --no-start"*) exit 1 ;; ps*) echo >> $NOTES/undos; [ $(wc -l < $NOTES/undos) -gt 1 ] ;; *) cat > /dev/null ;; esac`,
    );
    const wish = {
      name: "Second",
      server_id: server.id,
      erp_version: "19.0",
      edition: "community",
      database_name: "second",
      admin_email: "admin@example.com",
      domain: "second.example.com",
    };
    const { id, operation_id } = (await me.api.post("/instances", wish)).as(Instance.extend({ admin_password: z.string() }));
    await me.until(operation_id, "failed");
    expect(machine.read("notes/undos").split("\n")).toHaveLength(3);
    expect(readdirSync(join(machine.root, "instances"))).toEqual([instance.id]);
    const tries = readdirSync(join(machine.root, "jobs")).filter((name) => name.includes("-removeErp-"));
    expect(tries).toEqual([`${operation_id}-removeErp-try2`]);
    expect((await me.api.get(`/instances/${id}`)).as(Instance)).toMatchObject({ status: "failed" });
    machine.docker("cat > /dev/null");
    await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  });

  test("deleting the instance and the server clears the machine of everything of the account", async () => {
    for (const path of [`/instances/${instance.id}`, `/servers/${server.id}`])
      await me.until((await me.api.delete(path)).as(Operation).id);
    expect(machine.read("system/root/.ssh/authorized_keys")).not.toContain("Test key");
    expect((await me.api.get("/catalog")).as(Catalog).providers).toMatchObject([{ sizes: [{ code: "office" }] }]);
  });

  test("workflows on your own machine pass no secret in their inputs and outputs", async () => {
    const executions = JSON.stringify(cloud.states.executions());
    expect(executions).not.toMatch(/X-Amz-|PRIVATE KEY|admin_password/);
  });
});
