// What the live environment guarantees, checked in sequence on one machine from outside: by the API and by the ERP itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Backup } from "../../shared/api/backups.ts";
import type { Instance } from "../../shared/api/instances.ts";
import type { Operation } from "../../shared/api/operations.ts";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { type Erp, fetchPage, signIn, type Site } from "./erp.ts";
import { requireApart, requireLimits, requirePlainRole, requireSecureSession } from "./house.ts";
import { type Machine, until } from "./machine.ts";
import { isGone, type Service, SHOP } from "./service.ts";

const { database_name: DATABASE, domain: DOMAIN, admin_email: ADMIN } = SHOP;
const COLLEAGUE = { login: "colleague@example.com", password: "a-colleague's-password" };

/** Attachments as the ERP stores them, created and deleted without it: deleting some hundred through it takes as long as a backup. */
const ATTACHMENTS = `
import configparser, hashlib, os, psycopg2, time
conf = configparser.RawConfigParser()
conf.read("/etc/odoo/odoo.conf")
o = conf["options"]
base = psycopg2.connect(host=o["db_host"], user=o["db_user"], password=o["db_password"], dbname="${DATABASE}")
base.autocommit = True
cursor = base.cursor()
top = "/var/lib/odoo/filestore/${DATABASE}"
def make(count):
    for number in range(count):
        data = b"file %d" % number * 2000
        name = hashlib.sha1(data).hexdigest()
        name = f"{name[:2]}/{name}"
        os.makedirs(os.path.dirname(f"{top}/{name}"), exist_ok=True)
        open(f"{top}/{name}", "wb").write(data)
        cursor.execute("insert into ir_attachment (name, type, store_fname) values (%s, 'binary', %s)", (name, name))
        print(name)
def delete(names):
    for name in names:
        cursor.execute("delete from ir_attachment where store_fname = %s", (name,))
        os.unlink(f"{top}/{name}")
        time.sleep(0.008)`;

export async function chain(machine: Machine, service: Service): Promise<{ passed: number; failed: number }> {
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

  const act = async (id: string, action: "start" | "stop" | "restart"): Promise<string> =>
    (await client.instances.act({ params: { id }, body: { action } })).data.id;

  await walk().catch(() => console.log("  The rest builds on this and was not tried."));
  return counts;

  async function walk(): Promise<void> {
    await guarantee("the script passes shellcheck", async () =>
      execFileSync("shellcheck", ["-"], { input: hostScript(), stdio: ["pipe", "inherit", "inherit"] }),
    );
    await guarantee(
      "its firewall accepts only SSH and the web, blocks containers from the metadata address, and can be set twice",
      async () => {
        const script = join(machine.root, "checked.sh");
        writeFileSync(script, hostScript());
        const rules = execFileSync(
          "unshare",
          ["-n", "bash", "-c", 'source "$0" probe; raise_firewall; raise_firewall; nft list ruleset', script],
          {
            env: { ...process.env, ERP_HOSTING_SYSTEM: machine.system, SSH_CONNECTION: "10.0.0.1 5000 10.0.0.2 2222" },
            encoding: "utf8",
          },
        );
        assert.match(rules, /policy drop;[^]*\ttcp dport \{ (22, )?80, 443, 2222 \} accept/);
        assert.match(rules, /ip daddr 169\.254\.0\.0\/16 drop/);
        assert.equal(rules.match(/chain input/g)?.length, 1);
      },
    );

    const server = await guarantee("a machine becomes a server, although its preparation is killed midway", async () => {
      const { data } = await client.servers.create({ body: service.serverBody });
      await survives(data.operation_id, "prepareHost", 0.3);
      const made = (await client.servers.get({ params: { id: data.id } })).data;
      assert.equal(made.status, "active");
      assert.match(readFileSync(join(machine.system, "root/.ssh/authorized_keys"), "utf8"), /^ssh-ed25519 /m);
      return made;
    });

    const { shop, password } = await guarantee(
      "an ERP is installed and responds although its installation is killed midway",
      async () => {
        const { data } = await client.instances.create({ body: { ...SHOP, server_id: server.id } });
        await survives(data.operation_id, "installErp", 8);
        const made = await instanceOf(data.id);
        assert.equal(made.status, "running");
        assert(data.admin_password, "No password is shown");
        return { shop: made, password: data.admin_password };
      },
    );

    const erp = await guarantee(
      "its administrator can sign in over HTTPS with the password that was shown, and with no other",
      async () => {
        assert.equal(await signIn(siteOf(DOMAIN), { database: DATABASE, login: ADMIN, password: `${password}x` }), undefined);
        return enter(shop, password);
      },
    );
    await guarantee("its session cookie and browsers stay on HTTPS", () => requireSecureSession(siteOf(DOMAIN)));
    await guarantee("its database role owns its database and nothing else", async () =>
      requirePlainRole(machine, shop.id, DATABASE),
    );
    await guarantee("its live connection works through the proxy", async () => assert.equal(await erp.websocket(), 101));
    await guarantee("its database manager is unreachable, however the URL is written", async () => {
      for (const path of [
        "/web/database/manager",
        "/web/database/selector",
        "//web/database/manager",
        "/WEB/database/manager",
        "/web/%64atabase/manager",
      ])
        assert.equal((await fetchPage(siteOf(DOMAIN), path)).status, 403, path);
    });
    await guarantee("no command line on the machine contains its passwords", async () => {
      const secrets = readFileSync(join(machine.root, "instances", shop.id, "odoo.conf"), "utf8").match(
        /(?<=^(?:db_password|admin_passwd) = ).+/gm,
      );
      assert.equal(secrets?.length, 2);
      const commands = execFileSync("ps", ["-ewwo", "args"], { encoding: "utf8" });
      for (const secret of [password, ...(secrets ?? [])]) assert(!commands.includes(secret));
    });

    const bytes = randomBytes(300_000);
    const written = await guarantee("records and a file can be written", async () => {
      const customer = await erp.create("res.partner", { name: "First customer", email: "first@example.com" });
      const attachment = await erp.create("ir.attachment", { name: "contract.bin", datas: bytes.toString("base64") });
      const mail = await erp.create("ir.mail_server", {
        name: "Mail",
        smtp_host: "smtp.example.com",
        smtp_user: "shop",
        smtp_pass: "mail-password",
        smtp_authentication: "login",
        smtp_encryption: "none",
      });
      assert.deepEqual(await erp.file(attachment), bytes);
      await erp.create("res.users", { name: "Colleague", login: COLLEAGUE.login, password: COLLEAGUE.password });
      return { customer, attachment, mail };
    });
    const uuid = await erp.parameter("database.uuid");

    const backup = await guarantee("a backup is completed, although packing it is killed midway", async () => {
      const { data } = await client.backups.create({ params: { id: shop.id }, body: { note: "Before the change" } });
      await survives(data.operation_id, "makeArchive", 0.3);
      const made = (await client.backups.get({ params: { id: data.id } })).data;
      assert.equal(made.status, "completed");
      return made;
    });
    await guarantee("its download is the ERP's own archive with the file in it, and matches the record", async () => {
      const folder = mkdtempSync(join(machine.root, "download-"));
      writeFileSync(join(folder, "archive.zip"), await downloaded(backup.id));
      execFileSync("unzip", ["-q", "archive.zip"], { cwd: folder });
      assert.equal(execFileSync("sha256sum", ["archive.zip"], { cwd: folder, encoding: "utf8" }).slice(0, 64), backup.sha256);
      assert.deepEqual(readdirSync(folder).toSorted(), ["archive.zip", "dump.sql", "filestore", "manifest.json"]);
      assert.equal(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")).major_version, "19.0");
      execFileSync("grep", ["-rqs", "--binary-files=text", "-F", "First customer", join(folder, "dump.sql")]);
      const files = readdirSync(join(folder, "filestore"), { recursive: true, encoding: "utf8", withFileTypes: true });
      assert(files.some((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).equals(bytes)));
    });

    await guarantee("nothing of a backup stays on the machine", async () => {
      const left = readdirSync(machine.root, { recursive: true, encoding: "utf8" }).filter((name) =>
        /jobs\/.*(\.zip|\/work|\/parameters)/.test(name),
      );
      assert.deepEqual(left, []);
    });

    const drilled = async (operation: Promise<Operation>): Promise<Record<string, boolean | null>> => {
      const { result } = await operation;
      const found = result?.drill?.checks ?? [];
      for (const { name, passed, detail } of found) if (passed !== true) console.log(`  ${name}: ${detail}`);
      const names = machine.docker("ps", "-a", "--format", "{{.Names}}") + machine.docker("volume", "ls", "-q");
      assert(!names.includes("erp-drill"), names);
      assert(!existsSync(join(machine.root, "drill")));
      return Object.fromEntries(found.map(({ name, passed }) => [name, passed]));
    };
    const drill = async (): Promise<string> => (await client.backups.drill({ params: { id: backup.id }, body: {} })).data.id;
    const good = { checksum: true, restores: true, boots: true, rows: true, files: true };

    await guarantee("a drill shows that the backup can be restored, while people write, and leaves nothing", async () => {
      const writer = await enter(shop, password);
      const took: number[] = [];
      const enough = new AbortController();
      const writes = (async () => {
        while (!enough.signal.aborted) {
          const began = performance.now();
          await writer.create("res.partner", { name: "During the drill" });
          took.push(performance.now() - began);
        }
      })();
      const began = performance.now();
      assert.deepEqual(await drilled(succeeds(await drill())), good);
      const seconds = (performance.now() - began) / 1000;
      enough.abort();
      await writes;
      const slowest = Math.max(...took);
      console.log(`  ${seconds.toFixed(1)} s; ${took.length} writes succeeded, the slowest took ${slowest.toFixed(0)} ms`);
    });
    await guarantee("a drill that is killed midway starts again", async () => {
      assert.deepEqual(await drilled(survives(await drill(), "drillArchive", 4)), good);
    });
    await guarantee("a drill names the table and the file that were taken from an archive", async () => {
      const folder = mkdtempSync(join(machine.root, "taken-"));
      const within = (command: string): string => execFileSync("bash", ["-c", command], { cwd: folder, encoding: "utf8" });
      const whole = await downloaded(backup.id);
      writeFileSync(join(folder, "archive.zip"), whole);
      within("unzip -q archive.zip && rm archive.zip");
      // The newest of the files is the one that was attached before the backup.
      within(`find filestore -type f -size +250k -print -quit | xargs rm && sed -i 's/^-- PostgreSQL database dump complete$/DROP TABLE public.ir_profile CASCADE;\\n&/' dump.sql && python3 -c "
import os, zipfile
with zipfile.ZipFile('archive.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
    for place, _, names in os.walk('.'):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), '.')
            if path != 'archive.zip':
                archive.write(path)
"`);
      const [key = ""] = (await service.stored()).filter((name) => name.includes(backup.id));
      await service.replace(key, readFileSync(join(folder, "archive.zip")));
      assert.deepEqual(await drilled(succeeds(await drill())), { ...good, rows: false, files: false });
      const { data } = await client.backups.get({ params: { id: backup.id } });
      assert.match(
        JSON.stringify(data.drill?.checks),
        /1 table differs: public\.ir_profile has no rows[^]*1 of \d+ files are missing/,
      );
      await service.replace(key, whole);
      assert.deepEqual(await drilled(succeeds(await drill())), good);
    });

    const restored = await guarantee("a restore that is killed midway brings back what was changed and deleted", async () => {
      await erp.write("res.partner", [written.customer], { name: "Changed" });
      await erp.remove("ir.attachment", [written.attachment]);
      await erp.create("res.partner", { name: "Too late" });
      const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: true } });
      const operation = await survives(data.id, "buildRestore", 1.5);
      const again = await enter(shop, password);
      assert.deepEqual(await again.search("res.partner", [["name", "=", "First customer"]]), [written.customer]);
      assert.deepEqual(await again.search("res.partner", [["name", "in", ["Changed", "Too late"]]]), []);
      assert.deepEqual(await again.file(written.attachment), bytes);
      return operation;
    });
    await guarantee("the safety backup has the data from before the restore", async () => {
      const id = restored.result?.safety_backup_id ?? "";
      const { data } = await client.backups.restore({ params: { id }, body: { backup_first: false } });
      await succeeds(data.id);
      const again = await enter(shop, password);
      assert.equal((await again.search("res.partner", [["name", "in", ["Changed", "Too late"]]])).length, 2);
      assert.equal(await again.file(written.attachment), undefined);
      await succeeds((await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } })).data.id);
    });

    await guarantee("the safety backup has everything that users write until a restore stops the ERP", async () => {
      const writer = await enter(shop, password);
      const responded: string[] = [];
      const enough = new AbortController();
      const writes = (async () => {
        for (let number = 1; !enough.signal.aborted; number++) {
          const name = `Meanwhile ${number}.`;
          await writer
            .create("res.partner", { name })
            .then(() => responded.push(name))
            .catch(() => sleep(100));
        }
      })();
      const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: true } });
      const { result } = await succeeds(data.id);
      enough.abort();
      await writes;
      const folder = mkdtempSync(join(machine.root, "safety-"));
      writeFileSync(join(folder, "archive.zip"), await downloaded(result?.safety_backup_id ?? ""));
      const dump = execFileSync("unzip", ["-p", join(folder, "archive.zip"), "dump.sql"], { maxBuffer: 1024 ** 3 }).toString();
      const after = await enter(shop, password);
      const kept = async (name: string): Promise<boolean> =>
        dump.includes(`${name}\t`) || (await after.search("res.partner", [["name", "=", name]])).length === 1;
      const lost: string[] = [];
      for (const name of responded) if (!(await kept(name))) lost.push(name);
      assert(responded.length > 0);
      assert.deepEqual(lost, []);
      console.log(`  ${responded.length} writes succeeded; the ERP was stopped for ${result?.downtime_seconds} s`);
      assert((result?.downtime_seconds ?? 0) > 0);
    });

    await guarantee(
      "code in the ERP's container cannot reach the machine's files by links, and root there has no privileges",
      async () => {
        const secret = join(machine.root, "secret");
        writeFileSync(secret, "the machine's own secret", { mode: 0o600 });
        const files = `/var/lib/odoo/filestore/${DATABASE}`;
        const inside = (command: string): string =>
          machine.docker("exec", `erp-${shop.id}`, "bash", "-c", `cd ${files} && ${command}`);
        assert.throws(
          () => machine.docker("exec", "-u", "root", `erp-${shop.id}`, "touch", `${files}/by-root`),
          /Permission denied/,
        );
        inside(`ln -s ${secret} link && ln -s ${machine.root} folder && mkfifo pipe && mkdir lost+found && echo a > 'lost+found/ü b.txt' &&
        : > $'\\xff'`);
        const made = await backUp(shop.id, "With links");
        assert.deepEqual([made.status, made.missing_files, made.skipped_files], ["completed", 0, 4]);
        const folder = mkdtempSync(join(machine.root, "links-"));
        writeFileSync(join(folder, "archive.zip"), await downloaded(made.id));
        execFileSync("unzip", ["-q", "archive.zip"], { cwd: folder });
        assert.equal(readFileSync(join(folder, "filestore/lost+found/ü b.txt"), "utf8"), "a\n");
        assert.throws(() => execFileSync("grep", ["-rqF", "the machine's own secret", folder]));
        inside(`rm -rf 'lost+found' && ln -s ${machine.root} lost+found`);
        const restore = { restore_database: false, backup_first: false };
        await succeeds((await client.backups.restore({ params: { id: made.id }, body: restore })).data.id);
        assert.equal(inside("cat 'lost+found/ü b.txt'"), "a\n");
        inside("cd .. && mv shop elsewhere && ln -s elsewhere shop");
        const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
        assert.match(await fails(data.operation_id, "HOST_JOB_FAILED"), /folder filestore\/shop is a link/);
        machine.docker("exec", `erp-${shop.id}`, "bash", "-c", "cd /var/lib/odoo/filestore && rm shop && mv elsewhere shop");
        assert.equal(readFileSync(secret, "utf8"), "the machine's own secret");
        assert.deepEqual(
          [statSync(secret).uid, statSync(machine.root).uid, existsSync(join(machine.root, "ü b.txt"))],
          [0, 0, false],
        );
        rmSync(secret);
      },
    );

    await guarantee("a restore that fails in the middle leaves the ERP as it was", async () => {
      const before = await enter(shop, password);
      const marker = await before.create("res.partner", { name: "Written after the backup" });
      const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
      const loading = `erp-${shop.id}-psql`;
      await until("the dump is loaded", 300, () => machine.docker("ps", "--format", "{{.Names}}").includes(loading), 20);
      machine.docker("rm", "-f", loading);
      assert.match(await fails(data.id, "HOST_JOB_FAILED"), /could not be restored/);
      assert.equal((await instanceOf(shop.id)).status, "running");
      const after = await enter(shop, password);
      assert.deepEqual(await after.search("res.partner", [["name", "=", "Written after the backup"]]), [marker]);
      assert.deepEqual(await after.file(written.attachment), bytes);
    });

    await guarantee(
      "a clone is neutralized and verified, has its own identity and the file, and does not change the original",
      async () => {
        const { data } = await client.instances.clone({
          params: { id: shop.id },
          body: { name: "Staging", domain: "staging.example.com", backup_id: backup.id },
        });
        const operation = await survives(data.operation_id, "neutralize", 0.5);
        assert.deepEqual(operation.result?.verification, {
          is_neutralized: true,
          active_crons: 0,
          active_mail_servers: 0,
          new_database_uuid: true,
          base_url: "https://staging.example.com",
        });
        const clone = await instanceOf(data.id);
        assert.deepEqual([clone.status, clone.neutralized], ["running", true]);
        const copy = await enter(clone, data.admin_password ?? "");
        assert.notEqual(await copy.parameter("database.uuid"), uuid);
        assert.equal(await signIn(siteOf(clone.domain), { database: clone.database_name, ...COLLEAGUE }), undefined);
        requireLimits(machine, [shop.id, clone.id], totalmem());
        requireApart(machine, shop.id, clone.id);
        requireApart(machine, clone.id, shop.id);
        assert.deepEqual(await copy.file(written.attachment), bytes);
        assert.deepEqual(
          await copy.search("ir.mail_server", [
            ["id", "=", written.mail],
            ["active", "=", true],
          ]),
          [],
        );
        assert.deepEqual(await copy.search("ir.mail_server", [["smtp_pass", "!=", false]]), []);
        const original = await enter(shop, password);
        assert.equal(await original.parameter("database.uuid"), uuid);
        assert.deepEqual(
          await original.search("ir.mail_server", [
            ["smtp_pass", "=", "mail-password"],
            ["active", "=", true],
          ]),
          [written.mail],
        );
        await succeeds((await client.instances.delete({ params: { id: clone.id } })).data.id);
      },
    );

    const databases = (): string =>
      machine.docker("exec", `erp-${shop.id}-db`, "psql", "-U", "postgres", "-XAtc", "select datname from pg_database");

    await guarantee("restores, clones and creations succeed although Docker stops for 30 s in the middle", async () => {
      const working = (operationId: string | null): Promise<void> =>
        until("its job works", 300, () => machine.isWorking(operationId ?? ""), 20);
      const restore = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
      await working(restore.data.id);
      await machine.withoutDocker(30);
      await succeeds(restore.data.id);
      assert.deepEqual(await (await enter(shop, password)).file(written.attachment), bytes);
      const body = { name: "Away", domain: "away.example.com", backup_id: backup.id };
      const { data: clone } = await client.instances.clone({ params: { id: shop.id }, body });
      await working(clone.operation_id);
      await machine.withoutDocker(30);
      await succeeds(clone.operation_id);
      await enter(await instanceOf(clone.id), clone.admin_password ?? "");
      const { data: fresh } = await client.instances.create({
        body: {
          name: "Fresh",
          server_id: server.id,
          erp_version: "19.0",
          edition: "community",
          database_name: "fresh",
          admin_email: ADMIN,
          domain: "fresh.example.com",
        },
      });
      await working(fresh.operation_id);
      await machine.withoutDocker(30);
      await succeeds(fresh.operation_id);
      for (const { id } of [clone, fresh]) await succeeds((await client.instances.delete({ params: { id } })).data.id);
    });

    await guarantee(
      "a restore that fails and is undone while Docker is down leaves the ERP as it was, and nothing half finished",
      async () => {
        const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
        const loading = `erp-${shop.id}-psql`;
        await until("the dump is loaded", 300, () => machine.docker("ps", "--format", "{{.Names}}").includes(loading), 20);
        machine.docker("rm", "-f", loading);
        await machine.withoutDocker(30);
        await end(data.id);
        assert.equal((await instanceOf(shop.id)).status, "running");
        assert.deepEqual(await (await enter(shop, password)).file(written.attachment), bytes);
        assert.doesNotMatch(databases(), /^(new|old)_/m);
      },
    );

    await guarantee("a clone that is not neutralized keeps its mail server, and still has its own identity", async () => {
      const { data } = await client.instances.clone({
        params: { id: shop.id },
        body: {
          name: "Twin",
          domain: "twin.example.com",
          backup_id: backup.id,
          neutralize: false,
          admin_password: "a-password-of-its-own",
        },
      });
      const { result } = await survives(data.operation_id, "personalize", 0.8);
      assert.deepEqual([result?.verification?.is_neutralized, result?.verification?.new_database_uuid], [false, true]);
      assert((result?.verification?.active_crons ?? 0) > 0);
      const twin = await instanceOf(data.id);
      const copy = await enter(twin, "a-password-of-its-own");
      assert(await signIn(siteOf(twin.domain), { database: twin.database_name, ...COLLEAGUE }), "its users stay");
      assert.deepEqual(
        await copy.search("ir.mail_server", [
          ["smtp_pass", "=", "mail-password"],
          ["active", "=", true],
        ]),
        [written.mail],
      );
      assert.deepEqual(await copy.file(written.attachment), bytes);
      const { data: removal } = await client.instances.delete({ params: { id: twin.id } });
      await survives(removal.id, "removeErp", 0.2);
      assert(await isGone(() => client.instances.get({ params: { id: twin.id } })));
      assert(!machine.docker("ps", "-a", "--format", "{{.Names}}").includes(twin.id));
      assert(!machine.docker("volume", "ls").includes(twin.id));
    });

    await guarantee(
      "a change of the domain that is killed midway ends with the new domain serving and the old one not",
      async () => {
        const { data } = await client.instances.update({ params: { id: shop.id }, body: { domain: "new.example.com" } });
        await survives(data.operation_id, "moveDomain", 0.5);
        const moved = await enter(await instanceOf(shop.id), password);
        assert.equal(await moved.parameter("web.base.url"), "https://new.example.com");
        await assert.rejects(fetchPage(siteOf(DOMAIN), "/web/login"));
        await succeeds((await client.instances.update({ params: { id: shop.id }, body: { domain: DOMAIN } })).data.operation_id);
      },
    );

    await guarantee("stop, start and restart succeed although each is killed midway", async () => {
      await survives(await act(shop.id, "stop"), "stopErp", 0.05);
      assert.equal((await instanceOf(shop.id)).status, "stopped");
      assert.equal((await fetchPage(siteOf(DOMAIN), "/web/login")).status, 502);
      await survives(await act(shop.id, "start"), "startErp", 0.3);
      await enter(shop, password);
      await survives(await act(shop.id, "restart"), "restartErp", 0.3);
      await enter(shop, password);
    });

    await guarantee("an ERP whose machine died in the middle of a swap has its old data when it starts", async () => {
      const restores = join(machine.root, "instances", shop.id, "restores");
      const server = `erp-${shop.id}-db`;
      const sql = (database: string, statement: string): string =>
        machine.docker("exec", server, "psql", "-XqAt", "-U", "postgres", "-d", database, "-c", statement);
      await succeeds(await act(shop.id, "stop"));
      machine.docker("start", server);
      machine.docker("exec", server, "sh", "-c", "until pg_isready -q -h 127.0.0.1; do sleep 0.2; done");
      sql("postgres", `alter database ${DATABASE} rename to old_op_lost`);
      sql("postgres", `create database ${DATABASE} owner odoo template old_op_lost`);
      sql(DATABASE, "update res_partner set name = 'Half restored'");
      writeFileSync(join(restores, "op_lost"), "swapping");
      machine.docker("stop", server);
      await succeeds(await act(shop.id, "start"));
      const after = await enter(shop, password);
      assert.deepEqual(await after.search("res.partner", [["name", "=", "Half restored"]]), []);
      assert.deepEqual(await after.search("res.partner", [["name", "=", "First customer"]]), [written.customer]);
      assert.deepEqual(await after.file(written.attachment), bytes);
      assert.equal(sql("postgres", "select count(*) from pg_database where datname ~ '^(old|new)_'").trim(), "0");
      assert.deepEqual(readdirSync(restores), []);
    });

    await guarantee("a stopped ERP can be backed up and stays stopped", async () => {
      await succeeds(await act(shop.id, "stop"));
      assert.equal((await backUp(shop.id, "Stopped")).status, "completed");
      assert(!machine.docker("ps", "--format", "{{.Names}}").includes(shop.id));
      await succeeds(await act(shop.id, "start"));
    });

    /** A separate disk for jobs alone. It hides those of earlier operations meanwhile. */
    async function withJobsOn(megabytes: number, work: (jobs: string) => Promise<void>): Promise<void> {
      const jobs = join(machine.root, "jobs");
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", jobs]);
      await work(jobs).finally(() => execFileSync("umount", [jobs]));
    }
    await guarantee("a backup without room on the disk fails before it writes anything, and leaves nothing", async () => {
      const before = await service.stored();
      await withJobsOn(200, async (jobs) => {
        const { data } = await client.backups.create({ params: { id: shop.id }, body: { note: "No room" } });
        assert.match(await fails(data.operation_id, "HOST_JOB_FAILED"), /disk has \d+ MB free/);
        const left = readdirSync(jobs, { recursive: true, encoding: "utf8" }).filter((name) => /\.zip|\.sql/.test(name));
        assert.deepEqual(left, []);
      });
      assert.deepEqual(await service.stored(), before);
      await enter(shop, password);
    });

    await guarantee("a backup stops before it fills the disk, and the ERP keeps running", async () => {
      const before = await service.stored();
      const server = `erp-${shop.id}-db`;
      await withJobsOn(700, async (jobs) => {
        const lock = "set application_name = 'lock'; begin; lock res_partner in access exclusive mode; select pg_sleep(300)";
        machine.docker("exec", "-d", server, "psql", "-U", "odoo", "-d", DATABASE, "-c", lock); // the dump waits for it
        const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
        const archive = join(jobs, `${data.operation_id}-makeArchive`, "archive.zip");
        await until("it packs", 60, () => existsSync(archive), 20);
        execFileSync("fallocate", ["-l", "620m", join(jobs, "filling")]);
        assert.match(await fails(data.operation_id, "HOST_JOB_FAILED"), /stopped before the server's disk was full/);
        assert(!existsSync(archive));
        const release = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lock'";
        machine.docker("exec", server, "psql", "-U", "postgres", "-c", release);
      });
      assert.deepEqual(await service.stored(), before);
      await enter(shop, password);
    });

    await guarantee(
      "a safety backup that fails leaves the ERP running, with nothing swapped and nothing half finished",
      async () => {
        const marker = await (await enter(shop, password)).create("res.partner", { name: "Before the failed safety backup" });
        await withJobsOn(270, async () => {
          const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: true } });
          assert.match(await fails(data.id, "HOST_JOB_FAILED"), /A backup of the ERP needs \d+ MB/);
        });
        assert.equal((await instanceOf(shop.id)).status, "running");
        const after = await enter(shop, password);
        assert.deepEqual(await after.search("res.partner", [["name", "=", "Before the failed safety backup"]]), [marker]);
        assert.deepEqual(await after.file(written.attachment), bytes);
        assert.doesNotMatch(databases(), /^(new|old)_/m);
      },
    );

    await guarantee("a backup while files are deleted has every file that its dump names", async () => {
      const inside = (code: string, ...options: string[]): string =>
        machine.docker("exec", ...options, `erp-${shop.id}`, "python3", "-c", `${ATTACHMENTS}\n${code}`);
      const names = inside("make(755)").trim().split("\n");
      const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
      const archive = join(machine.root, "jobs", `${data.operation_id}-makeArchive`, "archive.zip");
      await until("it packs", 60, () => existsSync(archive), 20);
      inside(`delete(${JSON.stringify(names)})`, "-d");
      await succeeds(data.operation_id);
      const made = (await client.backups.get({ params: { id: data.id } })).data;
      assert.deepEqual([made.status, made.missing_files], ["completed", 0]);
      const folder = mkdtempSync(join(machine.root, "deletions-"));
      writeFileSync(join(folder, "archive.zip"), await downloaded(data.id));
      execFileSync("unzip", ["-q", "archive.zip"], { cwd: folder });
      const dump = readFileSync(join(folder, "dump.sql"), "utf8");
      const named = names.filter((name) => dump.includes(name));
      assert.deepEqual(
        named.filter((name) => !existsSync(join(folder, "filestore", name))),
        [],
      );
      const left = Number(inside("print(sum(os.path.exists(f'{top}/{name}') for name in " + JSON.stringify(names) + "))"));
      assert(named.length > 0 && left < names.length);
      console.log(`  its dump names ${named.length} of ${names.length} files, of which ${left} were left at its end`);
    });

    await guarantee("the ERP's own tools load the archive", async () => {
      const folder = mkdtempSync(join(machine.root, "load-"));
      writeFileSync(join(folder, "archive.zip"), await downloaded(backup.id), { mode: 0o644 });
      const server = `erp-${shop.id}-db`;
      const psql = (database: string, statement: string): string =>
        machine.docker("exec", server, "psql", "-U", "postgres", "-d", database, "-XqAtc", statement).trim();
      psql("postgres", "create role loader superuser login password 'loader'");
      try {
        const load = "odoo db -c /dev/null --db_host db -r loader -w loader -D /tmp/data load loaded /archive.zip";
        const image = machine.docker("inspect", "-f", "{{.Image}}", `erp-${shop.id}`).trim();
        const options = ["--network", `erp-${shop.id}_db`, "-v", `${join(folder, "archive.zip")}:/archive.zip:ro`];
        const command = `${load} >&2 && find /tmp/data/filestore/loaded -type f | wc -l`;
        const files = machine.docker("run", "--rm", ...options, "--entrypoint", "sh", image, "-c", command);
        assert(Number(files) > 0);
        assert.equal(psql("loaded", "select count(*) from res_partner where name = 'First customer'"), "1");
      } finally {
        psql("postgres", "drop database if exists loaded with (force)");
        psql("postgres", "drop role loader");
      }
    });

    await guarantee("an archive that was changed in the store is rejected, and the ERP is untouched", async () => {
      const second = await backUp(shop.id, "To be damaged");
      const key = (await service.stored()).find((name) => name.includes(second.id));
      assert(key);
      await service.damage(key);
      const { data } = await client.backups.restore({ params: { id: second.id }, body: {} });
      await fails(data.id, "BACKUP_CORRUPT");
      assert.equal((await instanceOf(shop.id)).status, "running");
      const after = await enter(shop, password);
      assert.deepEqual(await after.file(written.attachment), bytes);
    });

    await guarantee("the machine is released with nothing of the account left on it", async () => {
      await succeeds((await client.instances.delete({ params: { id: shop.id } })).data.id);
      await succeeds((await client.servers.delete({ params: { id: server.id } })).data.id);
      assert(await isGone(() => client.servers.get({ params: { id: server.id } })));
      assert.equal(machine.docker("ps", "-a", "--format", "{{.Names}}").trim(), "");
      assert.deepEqual(readdirSync(join(machine.root, "instances")), []);
      assert.doesNotMatch(readFileSync(join(machine.system, "root/.ssh/authorized_keys"), "utf8"), /ssh-/);
    });
    await guarantee("no password is in a log", async () => {
      const logs = execFileSync("bash", ["-c", 'cat "$0"/* "$1"/jobs/*/log', service.logs, machine.root], {
        encoding: "utf8",
        maxBuffer: 1024 ** 3,
      });
      assert(logs.length > 1000);
      for (const secret of [password, "a-password-of-its-own", "mail-password"]) assert(!logs.includes(secret));
    });
  }
}
