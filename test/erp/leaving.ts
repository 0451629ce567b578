// An archive is restored without the service: by the documented commands, and by the ERP's own tools.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BackedUp, type Chain } from "./context.ts";

export async function leave({ machine, guarantee, downloaded }: Chain, { shop, backup }: BackedUp): Promise<void> {
  await guarantee("the documented commands restore it with plain tools, and the ERP starts on it", async () => {
    const folder = mkdtempSync(join(machine.root, "leave-"));
    writeFileSync(join(folder, "backup.zip"), await downloaded(backup.id));
    const page = readFileSync(join(import.meta.dirname, "../../docs/backups.md"), "utf8");
    const [, documented = ""] = /## Leaving[^]*?```bash\n([^]*?)```/.exec(page) ?? [];
    // The database server here has the shop already.
    const lines = documented.trim().replaceAll("shop", "left").split("\n");
    const [unpack, load] = [lines.slice(0, 2), lines.slice(2)];
    assert.match(unpack.join(), /unzip/);
    assert.match(load.at(-1) ?? "", /^odoo .*-d left$/);
    // The image of the ERP has no unzip.
    execFileSync("bash", ["-ec", unpack.join("\n")], { cwd: folder, stdio: "ignore" });
    execFileSync("chmod", ["-R", "a+rwX", folder]);
    const server = `erp-${shop.id}-db`;
    const psql = (database: string, statement: string): string =>
      machine.docker("exec", server, "psql", "-U", "postgres", "-d", database, "-XqAtc", statement).trim();
    psql("postgres", "create role leaver createdb login password 'leaver'");
    try {
      const image = machine.docker("inspect", "-f", "{{.Image}}", `erp-${shop.id}`).trim();
      const database = ["PGHOST=db", "PGUSER=leaver", "PGPASSWORD=leaver", "PGDATABASE=postgres", "ODOO_RC=/dev/null"];
      const options = ["--network", `erp-${shop.id}_db`, "-v", `${folder}:/leave`, "-w", "/leave", "--user", "root"];
      const commands = `${load.join("\n")} --no-http --stop-after-init`;
      const environment = database.flatMap((each) => ["-e", each]);
      machine.docker("run", "--rm", ...options, ...environment, "--entrypoint", "bash", image, "-ec", commands);
      assert.equal(psql("left", "select count(*) from res_partner where name = 'First customer'"), "1");
      const files = readdirSync(join(folder, "odoo-data/filestore/left"), { recursive: true, encoding: "utf8" });
      const storedNames = psql("left", "select store_fname from ir_attachment where store_fname is not null").split("\n");
      assert.deepEqual(
        storedNames.filter((name) => !files.includes(name)),
        [],
      );
    } finally {
      psql("postgres", 'drop database if exists "left" with (force)');
      psql("postgres", "drop role leaver");
    }
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
}
