// The key that machines let in: exported sealed and once, imported by a service that has lost its own, and replaced on all
// machines.
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { exportHostsKey, hostsKeyLog, importHostsKey, rotateHostsKey } from "../../infra/hosts-key.ts";
import { keys } from "../../shared/data/keys.ts";
import { putIfAbsent, updateOne } from "../../shared/data/table.ts";
import { connected } from "../../shared/hosts/ssh-connection.ts";
import type { KeyPair } from "../../shared/platform/key-pair.ts";
import { serviceKeyFrom } from "../../shared/platform/service-key.ts";
import { unless } from "../harness/unless.ts";
import { type Local, SECRET, startLocal, useLocal } from "../local/services.ts";
import { noMachine, startMachine, type TestMachine } from "./machine.ts";

describe("the key that machines let in", unless(noMachine), () => {
  const folder = mkdtempSync(join(tmpdir(), "hosts-key-"));
  const file = join(folder, "hosts-key.jwe");
  const printed: string[] = [];
  let local: Local;
  let secrets: SecretsManagerClient;
  let machines: [TestMachine, TestMachine];

  beforeAll(async () => {
    local = await startLocal();
    useLocal(local, {
      HOSTS_KEY: SECRET,
      TABLE_NAME: "service",
      ENVIRONMENT: "live",
      HOSTS_KEY_PASSPHRASE: "correct horse battery",
    });
    secrets = new SecretsManagerClient(local.as("operator"));
    machines = [await startMachine({ keysInFile: true }), await startMachine({ keysInFile: true })];
    await putIfAbsent(keys.accountListed("acc_1"), { created_at: new Date().toISOString() });
    for (const [index, { server }] of machines.entries()) await addServer(`srv_${index + 1}`, server.host_keys, server.ssh_port);
  });
  beforeEach(() => {
    printed.length = 0;
    vi.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
  });
  afterAll(async () => {
    await Promise.all(machines.map((each) => each.stop()));
    await local.stop();
  });

  const addServer = (id: string, host_keys: string[], ssh_port: number | null) =>
    putIfAbsent(keys.record("server", "acc_1", id), {
      id,
      account_id: "acc_1",
      name: `name of ${id}`,
      provider: "byo",
      region: "own",
      size: "rack",
      state: "ready",
      ip_address: "127.0.0.1",
      host_keys,
      ssh_port,
      created_at: new Date().toISOString(),
      updated_at: new Date().toISOString(),
    });
  const value = async (VersionStage = "AWSCURRENT"): Promise<string> =>
    (await secrets.send(new GetSecretValueCommand({ SecretId: SECRET, VersionStage }))).SecretString ?? "";
  const isLetIn = (machine: TestMachine, key: KeyPair): Promise<boolean> =>
    connected(machine.server, async () => true, { keys: [key] }).catch(() => false);

  test("it is exported sealed, for the owner of the file alone, and once", async () => {
    await exportHostsKey(SECRET, file);
    expect(statSync(file).mode & 0o77).toBe(0);
    expect(readFileSync(file, "utf8")).not.toContain(await value());
    await expect(exportHostsKey(SECRET, file)).rejects.toThrow("exists: choose another file");
    await expect(exportHostsKey(SECRET, join(folder, "again"))).rejects.toThrow(/This key was exported at 20\S+ by \S+@/);
    process.env["HOSTS_KEY_PASSPHRASE"] = "short";
    await expect(exportHostsKey(SECRET, join(folder, "again"))).rejects.toThrow("set HOSTS_KEY_PASSPHRASE");
    process.env["HOSTS_KEY_PASSPHRASE"] = "correct horse battery";
  });

  test("a service that has lost its secret gets into its machines again with the exported key", async () => {
    const before = await value();
    await secrets.send(new PutSecretValueCommand({ SecretId: SECRET, SecretString: "of a new stack" }));
    expect(await isLetIn(machines[0], serviceKeyFrom(await value()))).toBe(false);
    process.env["HOSTS_KEY_PASSPHRASE"] = "another passphrase";
    await expect(importHostsKey(SECRET, file)).rejects.toThrow("The passphrase is wrong, or");
    expect(await value()).toBe("of a new stack");
    process.env["HOSTS_KEY_PASSPHRASE"] = "correct horse battery";
    await importHostsKey(SECRET, file);
    expect(await value()).toBe(before);
    expect(await isLetIn(machines[0], serviceKeyFrom(await value()))).toBe(true);
    await importHostsKey(SECRET, file);
    expect(printed.at(-1)).toContain("already");
  });

  test("a replacement lets both keys in meanwhile, then only the new one, and waits for machines that do not respond", async () => {
    const [one, two] = machines;
    const old = serviceKeyFrom(await value());
    const ofTwo = keys.record("server", "acc_1", "srv_2");
    await updateOne(ofTwo, { set: { ssh_port: 1 } }, {});
    const running = rotateHostsKey(SECRET, { settledSeconds: 8 });
    running.catch(() => undefined);
    await vi.waitUntil(() => printed.some((line) => line.startsWith("Waiting")), 8000);
    const current = serviceKeyFrom(await value());
    expect(current.public_key).not.toBe(old.public_key);
    expect([await isLetIn(one, old), await isLetIn(one, current)]).toEqual([true, true]);
    await expect(running).rejects.toThrow(
      /could not be asked:\n {2}srv_2 {2}name of srv_2 {2}127.0.0.1 {2}HOST_UNREACHABLE: The machine at/,
    );
    expect([await isLetIn(one, old), await isLetIn(one, current)]).toEqual([false, true]);
    expect([await isLetIn(two, old), await isLetIn(two, current)]).toEqual([true, false]);
    await expect(importHostsKey(SECRET, file)).rejects.toThrow("The key is being replaced");
    expect(await value("AWSPREVIOUS")).not.toBe(await value());

    await updateOne(ofTwo, { set: { ssh_port: two.server.ssh_port } }, {});
    await rotateHostsKey(SECRET, { settledSeconds: 0 });
    expect(serviceKeyFrom(await value()).public_key).toBe(current.public_key);
    for (const machine of machines) {
      expect([await isLetIn(machine, old), await isLetIn(machine, current)]).toEqual([false, true]);
      expect(machine.read("system/root/.ssh/authorized_keys").trim()).toBe(current.public_key);
    }

    printed.length = 0;
    await hostsKeyLog();
    expect(printed.map((line) => line.split("  ")[1])).toEqual(["exported", "imported", "replacement begun", "replaced"]);
    await exportHostsKey(SECRET, join(folder, "the-new-one"));
  });

  test("a machine that still lets the old key in, from another place, is named", async () => {
    const old = serviceKeyFrom(await value());
    const { server } = machines[0];
    // The stand-in keeps the old key in, as if another file of sshd's had it.
    machines[0].standIn(
      "mv",
      `[[ $1 != *.service ]] || grep -qF '${old.public_key}' "$1" || echo '${old.public_key}' >> "$1"; exec /usr/bin/mv "$@"`,
    );
    await expect(rotateHostsKey(SECRET, { settledSeconds: 0 })).rejects.toThrow(/srv_1 .*still lets the old key in/);
    machines[0].standIn("mv", 'exec /usr/bin/mv "$@"');
    await rotateHostsKey(SECRET, { settledSeconds: 0 });
    expect(await isLetIn({ ...machines[0], server }, old)).toBe(false);
  });
});
