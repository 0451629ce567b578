// What an ERP may write on its machine, what of it is measured, and what it is to be paused.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage } from "./erp.ts";

const MB = 1024 ** 2;

export async function shareDisk({ machine, guarantee, siteOf }: Chain, { shop }: BackedUp): Promise<void> {
  const container = `erp-${shop.id}`;
  const inErp = (command: string): string => machine.docker("exec", container, "sh", "-c", `(${command}) 2>&1 || true`);
  const fact = (name: string): string => join(machine.root, "instances", shop.id, name);
  /** What a timer runs; with other settings, so that the disk counts as almost full. */
  function look(task: "measure" | "watch", settings = ""): void {
    const program = readFileSync(join(machine.root, "disk/watch.sh"), "utf8").replace('"$1_disk"', `${settings}\n"$1_disk"`);
    execFileSync("bash", ["-c", program, "watch", task], { env: machine.environment });
  }
  const used = (): number => {
    rmSync(fact("disk"), { force: true });
    look("measure");
    return Number(readFileSync(fact("disk"), "utf8").split(" ")[0]);
  };

  await guarantee("an ERP writes only to its files and to a small /tmp", () => {
    assert.match(inErp("touch /x /var/tmp/x /mnt/x"), /Read-only file system/);
    assert.match(inErp("dd if=/dev/zero of=/tmp/full bs=1M; rm /tmp/full"), /No space left on device/);
    assert.match(inErp('python3 -c "import tempfile; print(tempfile.gettempdir())"'), /^\/var\/lib\/odoo\/tmp$/m);
    return Promise.resolve();
  });

  await guarantee("what it uses is measured, also what is deleted and still open", async () => {
    const before = used();
    assert(before > 20 * MB, `${before} bytes`);
    machine.docker("exec", "-d", container, "sh", "-c", "cd; exec 5>x; dd if=/dev/zero bs=1M count=200 >&5; rm x; sleep 60");
    for (let tries = 0; tries < 20 && used() < before + 200 * MB; tries += 1)
      await new Promise((resolve) => void setTimeout(resolve, 500));
    assert(used() >= before + 200 * MB, `${used() - before} bytes`);
  });

  await guarantee(
    "one over its quota is paused on a full disk, its database goes on, and it responds again when its quota is raised",
    async () => {
      writeFileSync(fact("quota"), String(MB));
      look("watch", "DISK_LOW=101 DISK_WELL=102 DISK_FULL=0");
      assert.equal(machine.docker("inspect", "-f", "{{.State.Status}}", container).trim(), "paused");
      machine.docker("exec", `${container}-db`, "psql", "-U", "postgres", "-c", "select 1");
      rmSync(fact("quota"));
      look("watch", "DISK_LOW=101 DISK_WELL=102 DISK_FULL=0");
      assert.equal((await fetchPage(siteOf(shop.domain), "/web/login")).status, 200);
    },
  );
}
