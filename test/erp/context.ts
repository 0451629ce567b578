// What all steps of the chain use: sentences that are proven, operations with their ends, and the ERP as its users see it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Backup } from "../../shared/api/backups.ts";
import type { Instance } from "../../shared/api/instances.ts";
import type { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";
import { type Erp, signIn, type Site } from "./erp.ts";
import type { Machine } from "./machine.ts";
import { type Service, SHOP } from "./service.ts";

export const { database_name: DATABASE, domain: DOMAIN, admin_email: ADMIN } = SHOP;
/** That of an administrator who chose it. */
export const OWN_PASSWORD = "a-password-of-its-own";
export const COLLEAGUE = { login: "colleague@example.com", password: "a-colleague's-password" };

/** The first instance on the machine, with what was written to it before its first backup. */
export interface Shop {
  server: Server;
  shop: Instance;
  password: string;
  erp: Erp;
  uuid: string;
  /** The file that is attached. */
  bytes: Buffer;
  written: { customer: number; attachment: number; mail: number };
}

/** The same, with its first backup. */
export interface BackedUp extends Shop {
  backup: Backup;
}

export type Chain = ReturnType<typeof chainOn>;

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export function chainOn(machine: Machine, service: Service) {
  const { client, end } = service;
  const counts = { passed: 0, failed: 0 };

  /** A failure does not stop the other checks, unless they depend on it. */
  async function guarantee<T>(sentence: string, prove: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
    try {
      const proven = await prove();
      counts.passed++;
      console.log(`✓ ${sentence} (${seconds()})`);
      return proven;
    } catch (error) {
      counts.failed++;
      console.log(`✗ ${sentence} (${seconds()})\n  ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }

  async function succeeds(operationId: string | null): Promise<Operation> {
    const operation = await end(operationId);
    assert.equal(operation.status, "succeeded", `${operation.type}: ${operation.error?.code} ${operation.error?.message}`);
    return operation;
  }

  async function fails(operationId: string | null, code: string): Promise<string> {
    const operation = await end(operationId);
    assert.equal(operation.status, "failed", `${operation.type} ${operation.status}`);
    assert.equal(operation.error?.code, code, operation.error?.message);
    return operation.error?.message ?? "";
  }

  /** The operation succeeds although its job on the machine is killed in the middle, with all of its children. */
  async function survives(operationId: string | null, step: string, afterSeconds: number): Promise<Operation> {
    const killed = await machine.killJob(operationId ?? "", step, afterSeconds);
    assert(killed, `the job ${step} ended before it could be killed`);
    return succeeds(operationId);
  }

  const instanceOf = async (id: string): Promise<Instance> => (await client.instances.get({ params: { id } })).data;
  const siteOf = (domain: string): Site => ({ domain, authority: machine.authority() });

  async function enter({ domain, database_name, admin_email }: Instance, password: string): Promise<Erp> {
    const erp = await signIn(siteOf(domain), { database: database_name, login: admin_email, password });
    assert(erp, `The administrator of ${domain} is not let in`);
    return erp;
  }

  async function backUp(instanceId: string, note: string): Promise<Backup> {
    const { data } = await client.backups.create({ params: { id: instanceId }, body: { note } });
    await succeeds(data.operation_id);
    return (await client.backups.get({ params: { id: data.id } })).data;
  }

  async function downloaded(id: string): Promise<Buffer> {
    const { data } = await client.backups.download({ params: { id } });
    return Buffer.from(await (await fetch(data.url)).arrayBuffer());
  }

  /** Uploads an archive in parts, like a customer's archive from elsewhere; it is examined on the server. */
  async function upload(archive: Uint8Array, note: string, serverId: string) {
    const { data: pendingUpload } = await client.uploads.create({ body: { size_bytes: archive.length, note } });
    const parts = Array.from({ length: Math.ceil(archive.length / pendingUpload.part_size) }, (_, index) => ({
      number: index + 1,
      bytes: archive.subarray(index * pendingUpload.part_size, (index + 1) * pendingUpload.part_size),
    }));
    const params = { id: pendingUpload.id };
    const checksums = parts.map(({ number, bytes }) => ({ number, sha256: sha256Of(bytes) }));
    const addresses = (await client.uploads.parts({ params, body: { parts: checksums } })).data.parts;
    for (const { number, url, headers } of addresses) {
      const body = new Uint8Array(parts[number - 1]?.bytes ?? []);
      assert.equal((await fetch(url, { method: "PUT", headers, body })).status, 200);
    }
    const { data } = await client.uploads.complete({ params, body: { sha256: sha256Of(archive), server_id: serverId } });
    const { result } = await succeeds(data.operation_id);
    return { imported: (await client.backups.get({ params: { id: data.id } })).data, result };
  }

  /** One minute of systemd and of the service's schedule, without the wait. */
  async function minute(): Promise<void> {
    const env = { ...machine.environment, ERP_HOSTING_ROOT: machine.root };
    execFileSync("bash", [join(machine.root, "watch/watch.sh")], { env, timeout: 20_000 });
    await service.check();
  }

  /** The disk is measured by a timer of its own, also once a minute. */
  function measureDisk(): void {
    const env = { ...machine.environment, ERP_HOSTING_ROOT: machine.root };
    execFileSync("bash", [join(machine.root, "disk/watch.sh"), "measure"], { env });
  }

  /** The service signs in and reads what the machine reports; otherwise it does so only now and then. */
  async function visit(): Promise<void> {
    measureDisk();
    await minute();
    const status = join(machine.root, "caddy/etc/status");
    for (const name of readdirSync(status)) rmSync(join(status, name)); // a lost line is a reason to sign in
    await service.check();
  }

  const act = async (id: string, action: "start" | "stop" | "restart"): Promise<string> =>
    (await client.instances.act({ params: { id }, body: { action } })).data.id;

  /** The names of all databases of its server. */
  const databasesOf = ({ id }: Instance): string =>
    machine.docker("exec", `erp-${id}-db`, "psql", "-U", "postgres", "-XAtc", "select datname from pg_database");

  return {
    databasesOf,
    machine,
    service,
    client,
    end,
    counts,
    guarantee,
    succeeds,
    fails,
    survives,
    instanceOf,
    siteOf,
    enter,
    backUp,
    downloaded,
    upload,
    minute,
    measureDisk,
    visit,
    act,
  };
}
