// What operations leave behind, without running them: an active server, a running instance, a completed backup, with everything
// that the machines and the store of the sandbox hold. The product's own functions create it, so it is the same, but in this
// process and at once.
import { startChange, now } from "../../shared/data/change.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { ServerRecord } from "../../shared/records/schemas/server.ts";
import { findMachine, setMachine } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { generatePassword } from "../../shared/domain/generated-password.ts";
import { newId } from "../../shared/domain/ids.ts";
import type { Job, JobKind } from "../../shared/hosts/host.ts";
import { sandbox as hosts } from "../../shared/hosts/sandbox/host.ts";
import { SANDBOX_CATALOG } from "../../shared/providers/sandbox/catalog.ts";
import { sandbox as provider } from "../../shared/providers/sandbox/provider.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { seedBackup, seedInstance, seedServer } from "./seed.ts";

const ServerBody = ServerRecord.pick({ name: true, provider: true, region: true, size: true, ssh_key_id: true });
const InstanceBody = InstanceRecord.pick({
  name: true,
  server_id: true,
  erp_version: true,
  edition: true,
  database_name: true,
  admin_email: true,
  domain: true,
});

const dates = () => ({ created_at: now(), updated_at: now() });

/** The ID of an active server. */
export async function seedActiveServer(accountId: string, body: Record<string, unknown>): Promise<string> {
  const { name, region, size, ...rest } = ServerBody.parse(body);
  const offer = SANDBOX_CATALOG.sizes.find(({ code }) => code === size);
  if (offer === undefined) throw new Error(`The sandbox offers no ${size}`);
  const { cpu, memory_gb, disk_gb } = offer;
  const server_id = newId("server");
  const request = { operation_id: newId("operation"), server_id, account_id: accountId, name, region, size };
  const order = await provider.prepareOrder(request);
  const { machine_id } = await order();
  await setMachine(machine_id, { prepared: true });
  const ip_address = (await findMachine(machine_id))?.ip_address ?? null;
  await seedServer(accountId, {
    ...rest,
    id: server_id,
    name,
    region,
    size,
    specs: { cpu, memory_gb, disk_gb },
    machine_id,
    ip_address,
    ...dates(),
  });
  const change = startChange({ id: accountId });
  change.put(keys.watchedServer(server_id), { account_id: accountId, server_id, last_seen_at: now() });
  await change.commit();
  return server_id;
}

/** The ID of a running instance. */
export async function seedRunningInstance(accountId: string, body: Record<string, unknown>): Promise<string> {
  const fields = InstanceBody.parse(body);
  const server = await getServer(accountId, fields.server_id);
  const instance = await seedInstance(accountId, { ...fields, server_ip: server.ip_address, ...dates() });
  const admin_password = generatePassword();
  const id = `${instance.id}-installed`;
  await runJob(server, { id, kind: "install_erp", instance, database: "fresh", admin_password, start: true });
  return instance.id;
}

/** The ID of a completed backup. */
export async function seedCompletedBackup(accountId: string, instanceId: string, note: string | null): Promise<string> {
  const instance = await getInstance(accountId, instanceId);
  const server = await getServer(accountId, instance.server_id);
  const id = newId("backup");
  const key = archiveKey({ account_id: accountId, id });
  const archive = await runJob(server, { id: `${id}-made`, kind: "make_archive", instance_id: instanceId, key, note });
  const { admin_email, database_name, edition, erp_version } = instance;
  const { size_bytes, sha256, stored_checksum, missing_files, skipped_files } = archive;
  await seedBackup(instance, {
    id,
    note,
    admin_email,
    database_name,
    edition,
    erp_version,
    size_bytes,
    sha256,
    stored_checksum,
    missing_files,
    skipped_files,
    created_at: now(),
    completed_at: now(),
  });
  return id;
}

async function runJob<K extends JobKind>(server: ServerRecord, job: Job<K>) {
  const result = await hosts.run(server, job);
  if (!result.ready) throw new Error(`The sandbox takes its time: is SANDBOX_TIME_SCALE 0?`);
  return result.result;
}
