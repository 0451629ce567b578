// The operator's commands for the key that machines let in: export it sealed, import it elsewhere, and replace it on all
// machines.
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import * as z from "zod";
import { hostsKeyItems, keys } from "../shared/data/keys.ts";
import { parseEach } from "../shared/data/parse-each.ts";
import { find, putIfAbsent, queryAll, removeOne } from "../shared/data/table.ts";
import type { HostedServer } from "../shared/hosts/host.ts";
import { addServiceKey, removeServiceKey } from "../shared/hosts/service-keys.ts";
import { fingerprint } from "../shared/hosts/ssh-connection.ts";
import { accountIds } from "../shared/operations/accounts/operator.ts";
import { concurrently } from "../shared/platform/concurrently.ts";
import type { KeyPair } from "../shared/platform/key-pair.ts";
import { KEY_CACHE_SECONDS } from "../shared/platform/secrets.ts";
import { serviceKeyFrom } from "../shared/platform/service-key.ts";
import { LocalError } from "./local/errors.ts";
import { requirePassphrase, seal, unseal } from "./passphrase.ts";

const PASSPHRASE = "HOSTS_KEY_PASSPHRASE";

const Exported = z.object({ format: z.literal(1), secret: z.string().min(1) });

/** Writes the current key to a new file, sealed. Once: to have it again, replace it. */
export async function exportHostsKey(secretId: string, file: string): Promise<void> {
  const passphrase = requirePassphrase(PASSPHRASE, process.env);
  if (existsSync(file)) throw new LocalError(`${file} exists: choose another file`);
  const { value } = await requireVersion(secretId, "AWSCURRENT");
  const draft = `${file}.new`;
  const text = await seal(JSON.stringify({ format: 1, secret: value }), passphrase);
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flush: true });
  try {
    await unseal(readFileSync(draft, "utf8"), passphrase, draft); // what was written can be read
    const key = nameKey(serviceKeyFrom(value));
    if (!(await putIfAbsent(hostsKeyItems.exported(key), newNote("exported", key)))) {
      const { at, by } = Note.parse(await find({ key: hostsKeyItems.exported(key), schema: Note }));
      throw new LocalError(
        `This key was exported at ${at} by ${by}. If that file is lost, replace the key (rotate-hosts-key) and export the new one`,
      );
    }
    renameSync(draft, file);
    console.log(`Exported the key ${key} to ${file}. Keep the passphrase elsewhere: without it, the file is worth nothing`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Makes the exported key this service's. The key that it had before is accepted until the next change. */
export async function importHostsKey(secretId: string, file: string): Promise<void> {
  const passphrase = requirePassphrase(PASSPHRASE, process.env);
  const { secret } = Exported.parse(JSON.parse(await unseal(readFileSync(file, "utf8"), passphrase, file)));
  const key = nameKey(serviceKeyFrom(secret));
  if ((await requireVersion(secretId, "AWSCURRENT")).value === secret)
    return console.log(`The service has the key ${key} already`);
  if ((await find({ key: hostsKeyItems.rotation, schema: Rotation })) !== undefined)
    throw new LocalError("The key is being replaced: finish that first (rotate-hosts-key)");
  await secrets().send(new PutSecretValueCommand({ SecretId: secretId, SecretString: secret }));
  await writeNote("imported", key);
  console.log(`The service signs in with the key ${key} within ${KEY_CACHE_SECONDS / 60} minutes`);
}

const Rotation = z.object({ token: z.string(), at: z.string() });

/** Functions remember a key for a while: only then may machines reject the old one. */
const SETTLED_SECONDS = KEY_CACHE_SECONDS + 60;

/**
 * Replaces the key on all machines: makes a new one, which functions use beside the old one, lets it in everywhere, waits until
 * no function knows the old one alone, and then lets the old one in nowhere. May be repeated at any point, and goes on where it
 * was.
 * @throws LocalError that names the servers which are still missing.
 */
export async function rotateHostsKey(secretId: string, { settledSeconds = SETTLED_SECONDS } = {}): Promise<void> {
  const { current, old, since } = await beginRotation(secretId);
  console.log(`New key: ${current.public_key}`);
  const added = await onEach("has the new key", (server) => addServiceKey(server, current, [current, old]));
  const wait = since + settledSeconds * 1000 - Date.now();
  if (wait > 0) {
    console.log(`Waiting ${Math.ceil(wait / 1000)} s, until every function uses the new key …`);
    await sleep(wait);
  }
  const missing = await onEach("rejects the old key", async (server) => {
    // Servers that have been created since then get the new key, too.
    if (!added.updatedIds.has(server.id)) await addServiceKey(server, current, [current, old]);
    await removeServiceKey(server, old, current);
  });
  if (missing.failures.length > 0)
    throw new LocalError(
      `These still let the old key in, or could not be asked:\n${missing.failures.join("\n")}\nRun the command again once they respond`,
    );
  await writeNote("replaced", nameKey(current));
  await removeOne(hostsKeyItems.rotation);
  console.log(
    `No server of the service lets the old key ${nameKey(old)} in any more. Put the new one on machines of your own that no server uses`,
  );
}

async function beginRotation(secretId: string): Promise<{ current: KeyPair; old: KeyPair; since: number }> {
  await putIfAbsent(hostsKeyItems.rotation, { token: randomUUID(), at: new Date().toISOString() });
  const { token } = Rotation.parse(await find({ key: hostsKeyItems.rotation, schema: Rotation }));
  const before = await requireVersion(secretId, "AWSCURRENT");
  if (before.id !== token) {
    if ((await readVersion(secretId, "AWSPREVIOUS"))?.id === token)
      throw new LocalError("The secret has been given another value since this replacement began: put the one before back first");
    const SecretString = randomBytes(48).toString("base64url");
    await secrets().send(new PutSecretValueCommand({ SecretId: secretId, ClientRequestToken: token, SecretString }));
    await writeNote("replacement begun", nameKey(serviceKeyFrom(SecretString)));
  }
  const [current, old] = [await requireVersion(secretId, "AWSCURRENT"), await requireVersion(secretId, "AWSPREVIOUS")];
  return { current: serviceKeyFrom(current.value), old: serviceKeyFrom(old.value), since: current.since };
}

/** Shows everything that was done with the key, oldest first. */
export async function hostsKeyLog(): Promise<void> {
  const items = await queryAll(hostsKeyItems.all, { consistent: true });
  const notes = parseEach(Note, items.filter(hostsKeyItems.isNote));
  for (const { at, action, key, by } of notes.toSorted((a, b) => a.at.localeCompare(b.at)))
    console.log(`${at}  ${action}  ${key}  ${by}`);
  const rotation = await find({ key: hostsKeyItems.rotation, schema: Rotation });
  if (rotation !== undefined)
    console.log(`A replacement that began at ${rotation.at} has not ended: npm run admin -- rotate-hosts-key`);
}

const Note = z.object({ at: z.string(), action: z.string(), key: z.string(), by: z.string() });

const newNote = (action: string, key: string): z.infer<typeof Note> => ({
  at: new Date().toISOString(),
  action,
  key,
  by: `${userInfo().username}@${hostname()}`,
});

async function writeNote(action: string, key: string): Promise<void> {
  const note = newNote(action, key);
  await putIfAbsent(hostsKeyItems.note(`${note.at}#${randomUUID()}`), note);
}

/** Returns the key's fingerprint as `ssh-keygen -l` shows it. */
const nameKey = ({ public_key }: KeyPair): string =>
  `SHA256:${fingerprint(Buffer.from(public_key.split(" ")[1] ?? "", "base64"))}`;

const AT_ONCE = 20;

/** Works on each server that has a machine, and says what came of it. `failures` has a line for each on which it failed. */
async function onEach(
  becomes: string,
  work: (server: HostedServer) => Promise<void>,
): Promise<{ updatedIds: Set<string>; failures: string[] }> {
  const [updatedIds, failures] = [new Set<string>(), new Array<string>()];
  await concurrently(AT_ONCE, await serversWithMachines(), async (server) => {
    const name = `${server.id}  ${server.name}  ${server.ip_address ?? "no address yet"}`;
    try {
      await work(server);
      updatedIds.add(server.id);
      console.log(`${name}  ${becomes}`);
    } catch (error) {
      failures.push(`  ${name}  ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  return { updatedIds, failures };
}

/** No more than this takes: a record that is damaged elsewhere still has a machine with the old key. */
const Hosted = z.object({
  id: z.string(),
  name: z.string(),
  provider: z.string(),
  state: z.string(),
  machine_id: z.string().nullable().default(null),
  ip_address: z.string().nullable(),
  ssh_port: z.number().nullable().default(null),
  host_keys: z.array(z.string()).default([]),
});

/** @throws LocalError for a record that cannot be read: its machine would be left out. */
async function serversWithMachines(): Promise<z.infer<typeof Hosted>[]> {
  const items = (await accountIds()).map((id) => queryAll(keys.record("server", id, "").pk, { consistent: true }));
  const servers = (await Promise.all(items)).flat().map((item) => {
    const parsed = Hosted.safeParse(item);
    if (!parsed.success) throw new LocalError(`The record of the server ${String(item["sk"])} cannot be read: repair it first`);
    return parsed.data;
  });
  return servers.filter(
    ({ provider, ip_address, state }) => provider !== "sandbox" && (ip_address !== null || state === "creating"),
  );
}

interface SecretVersion {
  id: string;
  value: string;
  since: number;
}

async function readVersion(SecretId: string, VersionStage: "AWSCURRENT" | "AWSPREVIOUS"): Promise<SecretVersion | undefined> {
  try {
    const { VersionId, SecretString, CreatedDate } = await secrets().send(new GetSecretValueCommand({ SecretId, VersionStage }));
    return { id: VersionId ?? "", value: SecretString ?? "", since: CreatedDate?.getTime() ?? Date.now() };
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function requireVersion(secretId: string, stage: "AWSCURRENT" | "AWSPREVIOUS"): Promise<SecretVersion> {
  const version = await readVersion(secretId, stage);
  if (version === undefined || version.value === "") throw new LocalError(`The secret ${secretId} has no value ${stage}`);
  return version;
}

let client: SecretsManagerClient | undefined;
const secrets = (): SecretsManagerClient => (client ??= new SecretsManagerClient({}));
