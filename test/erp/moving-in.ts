// An archive that the ERP's own database manager made becomes an instance: uploaded in parts, examined by the machine, restored.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { unzipSync, zipSync } from "fflate";
import { type BackedUp, type Chain, COLLEAGUE, DATABASE, OWN_PASSWORD } from "./context.ts";
import { signIn } from "./erp.ts";
import { isGone } from "./service.ts";

/** What a database has of its server: roles of others, extensions that only a superuser creates, a way to another database. */
const OF_ITS_SERVER = `
create role metabase;
grant select on table ir_attachment to metabase;
alter default privileges for role odoo grant select on tables to metabase;
create extension pg_stat_statements;
create view slow_queries as select query, calls from pg_stat_statements;
create extension postgres_fdw;
create server elsewhere foreign data wrapper postgres_fdw options (host 'db.example.com');
create user mapping for odoo server elsewhere options (user 'u', password 'not to be shown');
create foreign table away (id int) server elsewhere;
create publication everything for all tables;
create policy theirs on res_partner for select to metabase using (true);
create function guard() returns event_trigger language plpgsql as 'begin null; end';
create event trigger guard on ddl_command_end execute function guard();
`;
const WITHOUT_IT = `
drop event trigger guard; drop function guard; drop policy theirs on res_partner; drop publication everything;
drop extension postgres_fdw cascade; drop extension pg_stat_statements cascade; drop owned by metabase; drop role metabase;
`;

/** The SQL of a table as a module of 19.0 has it. */
const EMBEDDED =
  "create table embedded (id int, value vector); insert into embedded values (1, '{1,2}'); alter table embedded owner to odoo";

/** More than one part of an upload. */
const LARGE_BYTES = 66 * 1024 ** 2;

/** The archive's path in the container, whose /tmp is small. */
const MADE = "/var/lib/odoo/tmp/manager.zip";

/** A large attachment as the ERP stores it, and then what its database manager does for /web/database/backup. */
const MANAGER = `
import hashlib, os, sys
from odoo.tools import config
config.parse_config(["-c", "/etc/odoo/odoo.conf"])
config["list_db"] = True
from odoo.service.db import dump_db
from odoo.sql_db import db_connect
data = os.urandom(${LARGE_BYTES})
sum = hashlib.sha1(data).hexdigest()
name = f"{sum[:2]}/{sum}"
path = config.filestore("${DATABASE}") + "/" + name
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "wb").write(data)
with db_connect("${DATABASE}").cursor() as cursor:
    cursor.execute("insert into ir_attachment (name, type, store_fname, checksum, file_size) values ('large', 'binary', %s, %s, %s) returning id", (name, sum, len(data)))
    print(cursor.fetchone()[0], sum)
dump_db("${DATABASE}", open("${MADE}", "wb"), "zip")`;

export async function moveIn(
  { machine, client, guarantee, succeeds, instanceOf, siteOf, enter, upload }: Chain,
  { server, shop, bytes, written, uuid }: BackedUp,
): Promise<void> {
  const container = `erp-${shop.id}`;

  const managerArchive = await guarantee("the ERP's own database manager makes an archive", async () => {
    const psql = (sql: string): string =>
      machine.docker("exec", `${container}-db`, "psql", "-XqU", "postgres", "-v", "ON_ERROR_STOP=1", DATABASE, "-c", sql);
    psql(OF_ITS_SERVER);
    psql(EMBEDDED);
    const [id, sha1] = machine.docker("exec", container, "/usr/bin/python3", "-c", MANAGER).trim().split(" ");
    const options = { env: machine.environment, maxBuffer: 1024 ** 3 };
    const archive = execFileSync("docker", ["exec", container, "cat", MADE], options);
    machine.docker("exec", container, "rm", MADE);
    psql(WITHOUT_IT);
    psql("drop table embedded");
    assert(archive.length > LARGE_BYTES);
    return { archive, large: { id: Number(id), sha1 } };
  });

  const backup = await guarantee("the archive is uploaded in parts and becomes a backup", async () => {
    const { archive } = managerArchive;
    const { imported, result } = await upload(archive, "Made by the database manager", server.id);
    const { kind, status, erp_version, edition, database_name, missing_files, size_bytes } = imported;
    assert.deepEqual(
      { kind, status, erp_version, edition, database_name, missing_files, size_bytes },
      {
        kind: "uploaded",
        status: "completed",
        erp_version: "19.0",
        edition: "community",
        database_name: DATABASE,
        missing_files: 0,
        size_bytes: archive.length,
      },
    );
    assert.deepEqual(
      imported.left_out.map(({ kind }) => kind),
      ["event_triggers", "extensions", "foreign_data", "policies", "privileges", "publications"],
    );
    assert.match(JSON.stringify(result?.left_out), /GRANT SELECT ON TABLE public\.ir_attachment TO metabase/);
    assert.doesNotMatch(JSON.stringify(result?.left_out), /not to be shown/);
    const results = (await client.search.find({ query: { q: DATABASE } })).data;
    assert(results.some(({ id }) => id === imported.id));
    return imported;
  });

  await guarantee("an instance begins with it, neutralized, and the ERP responds with the data and files of before", async () => {
    const { data } = await client.instances.create({
      body: {
        name: "Moved in",
        server_id: server.id,
        erp_version: "19.0",
        edition: "community",
        database_name: "moved_in",
        admin_email: "owner@example.com",
        domain: "moved.example.com",
        backup_id: backup.id,
        neutralize: true,
        admin_password: OWN_PASSWORD,
      },
    });
    const { result } = await succeeds(data.operation_id);
    assert.deepEqual(result?.verification, {
      is_neutralized: true,
      active_crons: 0,
      active_mail_servers: 0,
      new_database_uuid: false,
      base_url: "https://moved.example.com",
    });
    const moved = await instanceOf(data.id);
    assert.deepEqual([moved.status, moved.neutralized], ["running", true]);
    const erp = await enter(moved, OWN_PASSWORD);
    assert.deepEqual(await erp.search("res.partner", [["name", "=", "First customer"]]), [written.customer]);
    assert.deepEqual(await erp.file(written.attachment), bytes);
    const large = await erp.file(managerArchive.large.id);
    assert.equal(
      createHash("sha1")
        .update(large ?? "")
        .digest("hex"),
      managerArchive.large.sha1,
    );
    assert.equal(await erp.parameter("database.uuid"), uuid);
    const embedded = ["psql", "-XqAtU", "postgres", "-d", moved.database_name, "-c", "select value from embedded"];
    assert.equal(machine.docker("exec", `erp-${moved.id}-db`, ...embedded).trim(), "{1,2}");
    assert.deepEqual(await erp.search("ir.mail_server", [["smtp_pass", "!=", false]]), []);
    assert.equal(await signIn(siteOf(moved.domain), { database: moved.database_name, ...COLLEAGUE }), undefined);
    await succeeds((await client.instances.delete({ params: { id: moved.id } })).data.id);
    await succeeds((await client.backups.delete({ params: { id: backup.id } })).data.id);
    assert(await isGone(() => client.backups.get({ params: { id: backup.id } })));
  });

  await guarantee(
    "an archive without its files says so, boots with a stylesheet and a script, and so does its instance",
    async () => {
      const entries = unzipSync(managerArchive.archive, { filter: ({ name }) => ["dump.sql", "manifest.json"].includes(name) });
      const { imported, result } = await upload(zipSync(entries), "Without its files", server.id);
      assert(imported.listed_files !== null && imported.listed_files > 3);
      assert.equal(imported.missing_files, imported.listed_files);
      assert.equal(result?.missing_files, imported.missing_files);
      const drill = (await client.backups.drill({ params: { id: imported.id }, body: { server_id: server.id } })).data;
      const checks = (await succeeds(drill.id)).result?.drill?.checks ?? [];
      assert.equal(checks.find(({ name }) => name === "boots")?.passed, true, JSON.stringify(checks));
      const body = {
        name: "Without files",
        server_id: server.id,
        erp_version: "19.0",
        edition: "community" as const,
        database_name: "without_files",
        admin_email: "owner@example.com",
        domain: "without.example.com",
        backup_id: imported.id,
        admin_password: OWN_PASSWORD,
      };
      await assert.rejects(client.instances.create({ body }), { code: "INVALID_STATE" });
      const { data } = await client.instances.create({ body: { ...body, accept_missing_files: true } });
      await succeeds(data.operation_id);
      await enter(await instanceOf(data.id), OWN_PASSWORD);
      await succeeds((await client.instances.delete({ params: { id: data.id } })).data.id);
      await succeeds((await client.backups.delete({ params: { id: imported.id } })).data.id);
    },
  );
}
