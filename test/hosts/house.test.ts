// What instances share on a machine: Docker that stops, retries of undos, and how containers are isolated.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Job } from "../../shared/hosts/host.ts";
import { missingModules } from "../../shared/domain/missing-modules.ts";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, PAGES, processesWith, signal, startMachine, type TestMachine, until } from "./machine.ts";

describe("jobs on a machine", unless(noMachine), () => {
  let machine: TestMachine;
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    machine.install("ins_1", {});
  });
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
  });
  afterAll(() => machine.stop());

  const note = (name: string): string => join(machine.notes, name);
  const fact = (name: string): string => join(machine.root, "instances/ins_1", name);
  const restart = (id: string): Job<"restart_erp"> => ({ id, kind: "restart_erp", instance_id: "ins_1" });
  const readyInTime = (job: Job): Promise<void> =>
    until(`${job.id} is ready`, async () => (await ssh.run(machine.server, job)).ready);
  async function failure(job: Job): Promise<unknown> {
    let thrown: unknown;
    await until(`${job.id} fails`, async () => {
      thrown = await ssh.run(machine.server, job).then(
        () => undefined,
        (error: unknown) => error,
      );
      return thrown !== undefined;
    });
    return thrown;
  }

  test("a job waits for Docker", async () => {
    machine.docker("echo >> $NOTES/calls");
    writeFileSync(note("away"), "");
    const job = restart("op_wait-restartErp");
    await ssh.run(machine.server, job);
    await until("it looks for Docker", async () => !(await ssh.run(machine.server, job)).ready);
    expect(existsSync(note("calls"))).toBe(false);
    rmSync(note("away"));
    await readyInTime(job);
  });

  test("a job that failed because Docker stopped starts again when Docker is back", async () => {
    machine.docker('case "$*" in *"up -d") if [ ! -e $NOTES/was ]; then touch $NOTES/was $NOTES/away; exit 1; fi ;; esac');
    const job = restart("op_away-restartErp");
    await ssh.run(machine.server, job);
    await until("Docker goes away", () => existsSync(note("away")));
    // Until the job has found that out: it would fail if Docker were back before.
    const alive = join(machine.root, "jobs", job.id, "alive");
    await until("the job ends", () => spawnSync("flock", ["-n", alive, "true"]).status === 0);
    rmSync(note("away"));
    await readyInTime(job);
    expect(existsSync(note("was"))).toBe(true);
  });

  test("every retry of an undo is its own job, runs once, and earlier ones can no longer start", async () => {
    machine.docker('case "$*" in *"up -d") echo >> $NOTES/calls; exit 1 ;; esac');
    const [one, two, three] = [1, 2, 3].map((number) => restart(`op_undo-startAgain-try${number}`));
    if (!one || !two || !three) throw new Error("There are three");
    await expect(failure(one)).resolves.toMatchObject({ name: "GiveUp", code: "HOST_JOB_FAILED" });
    await failure(two);
    await failure(two); // its outcome is stored, and it does not run again
    expect(readFileSync(note("calls"), "utf8").split("\n")).toHaveLength(3);
    machine.docker(":");
    await Promise.all([readyInTime(three), readyInTime(three)]);
    const left = readdirSync(join(machine.root, "jobs")).filter((name) => name.startsWith("op_undo"));
    expect(left).toEqual(["op_undo-startAgain-try3"]);
    await expect(ssh.run(machine.server, one)).rejects.toMatchObject({ name: "GiveUp" });
    await readyInTime(three);
  });

  test("a retry of an undo that is requested twice at once ends the earlier one once", async () => {
    machine.docker('case "$*" in *"up -d") exit 1 ;; esac');
    await failure(restart("op_twice-startAgain-try1"));
    machine.docker(":");
    const earlier = join(machine.root, "jobs", "op_twice-startAgain-try1");
    // One request has removed the result but not yet the folder; another one that finds no result gets to write its own after the folder is gone.
    const during = (what: string): string => `for _ in {1..30}; do ${what} && break; sleep 0.1; done`;
    machine.standIn(
      "rm",
      `if [ "$*" = "-rf ${earlier}" ]; then /usr/bin/rm ${earlier}/result; ${during("[ -e $NOTES/second ]")}; fi; exec /usr/bin/rm "$@"`,
    );
    machine.standIn(
      "tail",
      `case "$*" in *${earlier}/log) touch $NOTES/second; ${during(`[ ! -e ${earlier} ]`)} ;; esac; exec /usr/bin/tail "$@"`,
    );
    const retry = restart("op_twice-startAgain-try2");
    await Promise.all([readyInTime(retry), readyInTime(retry)]);
    for (const name of ["rm", "tail"]) machine.standIn(name, `exec /usr/bin/${name} "$@"`);
    expect(existsSync(earlier)).toBe(false);
  });

  test("a job starts although another one removes the same old folders", async () => {
    machine.docker(":");
    const removed = 'echo "find: No such file or directory" >&2; exit 1';
    machine.standIn("find", `case "$*" in *"-exec rm -rf {} +" | *-delete) ${removed} ;; esac; exec /usr/bin/find "$@"`);
    await expect(readyInTime(restart("op_cleaned-restartErp"))).resolves.toBeUndefined();
    machine.standIn("find", 'exec /usr/bin/find "$@"');
  });

  test("of a log that a tenant's database floods, the beginning and the end are kept", async () => {
    machine.docker('case "$*" in *"up -d") echo first; yes "NOTICE: x" | head -c 20000000 >&2; echo last; exit 1 ;; esac');
    const job = restart("op_flooded-restartErp");
    await failure(job);
    const log = readFileSync(join(machine.root, "jobs", job.id, "log"), "utf8");
    expect(log.length).toBeLessThan(1_200_000);
    expect(log.slice(0, 100)).toContain("first\nNOTICE: x\n");
    expect(log.slice(-100)).toMatch(/NOTICE: x\nlast\n$/);
    const result = readFileSync(join(machine.root, "jobs", job.id, "result"), "utf8");
    expect(Buffer.from(/^log=(.*)$/m.exec(result)?.[1] ?? "", "base64").toString()).toMatch(/NOTICE: x\nlast\n?$/);
  });

  test("a machine with ERPs of another server, or of nobody, is rejected, and left alone when the creation is undone", async () => {
    machine.docker(":");
    machine.install("ins_precious", {});
    const precious = join(machine.root, "instances/ins_precious");
    let retirements = 0;
    const retire = (): Promise<void> => readyInTime({ id: `op_${(retirements += 1)}-retireHost`, kind: "retire_host" });
    for (const name of ["nft", "dpkg", "cloud-init"]) machine.standIn(name, "exit 0");
    for (const owner of ["another server", "nobody"]) {
      if (owner === "nobody") rmSync(join(machine.root, "server"));
      else writeFileSync(join(machine.root, "server"), "srv_other\n");
      const creation: Job<"prepare_host"> = { id: `op_${retirements}-prepareHost`, kind: "prepare_host", ssh_keys: [] };
      expect(String(await failure(creation)), owner).toContain("still has ERPs of another server");
      await retire();
      expect(existsSync(precious), owner).toBe(true);
    }
    writeFileSync(join(machine.root, "server"), "srv_test\n");
    await retire();
    expect(existsSync(precious)).toBe(false);
    machine.install("ins_1", {});
  });

  test("a job that ends while it is asked about does not run again", async () => {
    const job = restart("op_ended-restartErp");
    machine.docker('case "$*" in *"up -d") echo >> $NOTES/calls ;; esac');
    const ends = `echo -e 'state=done\\nanswer=bnVsbA==' > ${join(machine.root, "jobs", job.id, "result")}`;
    machine.standIn("flock", `if [ "$*" = "-n 9" ]; then ${ends}; fi; exec /usr/bin/flock "$@"`);
    await readyInTime(job);
    machine.standIn("flock", 'exec /usr/bin/flock "$@"');
    await until("it has ended", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
    expect(existsSync(note("calls"))).toBe(false);
  });

  test("a result is on the disk before it counts, and an empty one, which a loss of power has left, is none", async () => {
    machine.docker('case "$*" in *"up -d") echo >> $NOTES/calls ;; esac');
    machine.standIn(
      "sync",
      'case $1 in */result.*) [ -s "$1" ] && [ ! -s "${1%.*}" ] && echo >> $NOTES/synced ;; esac; exec /usr/bin/sync "$@"',
    );
    const job = restart("op_power-restartErp");
    await readyInTime(job);
    const result = join(machine.root, "jobs", job.id, "result");
    expect(readFileSync(note("synced"), "utf8")).toBe("\n");
    writeFileSync(result, "");
    await readyInTime(job);
    expect(readFileSync(note("calls"), "utf8")).toBe("\n\n");
    expect(readFileSync(result, "utf8")).toContain("state=done");
    machine.standIn("sync", 'exec /usr/bin/sync "$@"');
  });

  test("the next operation's job removes what a restore left half finished, and its own jobs do not", async () => {
    machine.docker(":");
    const restores = fact("restores");
    mkdirSync(restores, { recursive: true });
    for (const state of ["building", "built"]) {
      writeFileSync(join(restores, "op_restore"), state);
      await readyInTime(restart(`op_restore-${state}`));
      expect(readdirSync(restores)).toEqual(["op_restore"]);
      await readyInTime(restart(`op_other-${state}`));
      expect(readdirSync(restores)).toEqual([]);
    }
    writeFileSync(join(restores, "op_restore"), "swapped");
    await readyInTime(restart("op_third-restartErp"));
    expect(readdirSync(restores), "what was replaced is kept until the next restore").toEqual(["op_restore"]);
    rmSync(join(restores, "op_restore"));
  });

  test("what a restore left and nobody can remove now does not stop other jobs, and goes when it can", async () => {
    machine.docker(":");
    const restores = fact("restores");
    const left = join(machine.volume, "filestore/new_op_held");
    mkdirSync(left, { recursive: true }); // root's, not the ERP's
    writeFileSync(join(left, "file"), "");
    mkdirSync(restores, { recursive: true });
    writeFileSync(join(restores, "op_held"), "built");
    await readyInTime(restart("op_fourth-restartErp"));
    expect(readdirSync(restores)).toEqual(["op_held"]);
    chownSync(left, 101, 101);
    await readyInTime(restart("op_fifth-restartErp"));
    expect(readdirSync(restores)).toEqual([]);
    expect(existsSync(left)).toBe(false);
  });

  test("a database that its owner has made a template is dropped, too, and so is one whose removal was interrupted", () => {
    const statements = call('sql() { cat; }; has_database() { true; }; drop_database "new_1"').trim().split(/\n\s*/);
    expect(statements.slice(-3)).toEqual([
      `set lock_timeout = '5s'; alter database "new_1" owner to current_user;`,
      `select 'alter database "new_1" is_template false' from pg_database where datname = 'new_1' and datconnlimit <> -2 \\gexec`,
      'drop database if exists "new_1" with (force)',
    ]);
  });

  test.each([
    ["echo true", "yes"],
    ["echo WARNING: no swap limit >&2; echo true", "yes"],
    ["echo false", "no"],
    ["echo Error: No such object: erp-x >&2; return 1", "no"],
    ["echo Error response from daemon: No such container: erp-x >&2; return 1", "no"],
    ["echo dial unix /run/docker.sock: connect: no such file or directory >&2; return 1", "unknown"],
    ["return 125", "unknown"],
  ])("only Docker can say that a container does not run: %s", (docker, runs) => {
    const job = mkdtempSync(join(tmpdir(), "job-"));
    const asked = `docker() { ${docker}; }; JOB=${job}; if is_running erp-x; then echo yes; else echo no; fi`;
    expect(call(`(${asked}) || echo unknown`).trim()).toBe(runs);
    expect(existsSync(join(job, "failure"))).toBe(runs === "unknown");
    rmSync(job, { recursive: true });
  });

  describe("the firewall", () => {
    const bridges = "docker() { echo '0123456789ab erp-ins_1_edge'; echo 'ba9876543210 other'; }";
    const commands = `${bridges}; nft() { cat "$2"; }; systemctl() { :; }; sshd() { echo port 22; }`;
    const rules = (parameters: string, system = mkdtempSync(join(tmpdir(), "system-")), command = "raise_firewall"): string =>
      call(`P=(${parameters}); ${commands}; ${command}`, { ERP_HOSTING_SYSTEM: system, ERP_HOSTING_ROOT: system });

    test("keeps containers from metadata, private networks, the machine and mail servers, also without ours in front of the machine", () => {
      expect(rules("[FIREWALL]=yes")).toContain("policy drop");
      expect(rules("[FIREWALL]=no")).not.toContain("policy drop");
      for (const each of ["yes", "no"]) {
        const text = rules(`[FIREWALL]=${each}`);
        expect(text).toContain('elements = { "br-0123456789ab" }');
        expect(text).toContain("iifname @containers jump from_containers");
        expect(text).toMatch(/th dport 53 accept\n {4}ip daddr 169\.254\.0\.0\/16 drop/);
        for (const network of ["10.0.0.0/8", "169.254.0.0/16", "fc00::/7", "fe80::/10", "::ffff:0:0/96"])
          expect(text).toContain(network);
        expect(text).toContain("tcp dport 25 drop");
      }
    });

    test("opens the operator's networks, of both kinds", () => {
      const text = rules("[OPEN_NETWORKS]='192.168.1.0/24 fd12::/16 203.0.113.25'");
      expect(text).toContain("elements = { 192.168.1.0/24,203.0.113.25 }");
      expect(text).toContain("elements = { fd12::/16 }");
    });

    test("is renewed at the start of an ERP, and stays in front of the machine only where it was", () => {
      for (const before of ["yes", "no"]) {
        const system = mkdtempSync(join(tmpdir(), "system-"));
        rules(`[FIREWALL]=${before}`, system);
        expect(rules("[OPEN_NETWORKS]=10.1.2.3", system, "refresh_firewall").includes("policy drop")).toBe(before === "yes");
      }
    });
  });

  test("an instance's containers have limits, no privileges, images by ID, and a network with the proxy alone", async () => {
    machine.docker(":");
    await readyInTime(restart("op_compose-restartErp"));
    const [db = "", odoo = "", buffer = ""] = readFileSync(fact("compose.yaml"), "utf8").split(/^ {2}(?:odoo|buffer):$/m);
    for (const service of [db.slice(db.indexOf("services:")), odoo, buffer]) {
      expect(service).toContain("<<: *limits");
      expect(service).toMatch(/ mem_limit: \d{2,}m\n {4}memswap_limit: \d{2,}m\n/);
    }
    for (const service of [db, odoo]) {
      expect(service).toContain('image: "sha256:image"');
      expect(service).toContain("healthcheck:");
    }
    expect(buffer).toMatch(/user: "65534:65534"\n {4}read_only: true[^]*networks: \["edge"\]/);
    expect(buffer).not.toContain("cap_add");
    expect(db).toMatch(
      /x-limits: &limits\n {2}cap_drop: \["ALL"\]\n {2}security_opt: \["no-new-privileges:true"\]\n {2}pids_limit: 512\n {2}cpus: \d+\.\d\d\n/,
    );
    expect(db).toMatch(/read_only: true[^]*shared_buffers=\d+MB[^]*networks: \["db"\]/);
    expect(odoo).toContain('networks: ["db", "edge"]');
    expect(odoo).not.toContain("cap_add");
    expect(buffer).toMatch(/db: \{ name: erp-ins_1_db, internal: true \}\n {2}edge: \{ name: erp-ins_1_edge, labels: /);
    expect(readFileSync(fact("database.env"), "utf8")).toMatch(/^POSTGRES_USER=postgres$/m);
    const [password = ""] = /(?<=^db_password = ).+$/m.exec(readFileSync(fact("odoo.conf"), "utf8")) ?? [];
    expect(password).not.toBe("");
    expect(readFileSync(fact("database.env"), "utf8"), "the superuser's is another").not.toContain(password);
  });

  describe("an ERP that was installed by an earlier version of the script", () => {
    const site = (): string => readFileSync(join(machine.root, "caddy/etc/sites/ins_1.caddy"), "utf8");
    const compose = (): string => readFileSync(fact("compose.yaml"), "utf8");
    beforeEach(() => {
      for (const name of ["buffer", "served", "compose.yaml"]) rmSync(fact(name), { recursive: true, force: true });
      writeFileSync(join(machine.root, "caddy/etc/sites/ins_1.caddy"), "shop.example.com {\n}\n");
    });

    test("gets its buffer at the next start, in a file system of its own, and its site leads there", async () => {
      machine.docker(":");
      machine.standIn("mountpoint", "exit 0");
      await readyInTime(restart("op_buffered-restartErp"));
      machine.standIn("mountpoint", 'exec /usr/bin/mountpoint "$@"');
      expect(site()).toContain("reverse_proxy erp-ins_1-buffer:8080 {");
      expect(compose()).toContain(`volumes: ["./buffer:/etc/buffer:ro", "${machine.root}/buffers/ins_1:/buffer"]`);
      expect(compose()).toContain('environment: { ODOO_HTTP_SOCKET_TIMEOUT: "300", TMPDIR: /var/lib/odoo/tmp }');
      expect(readFileSync(fact("buffer/nginx.conf"), "utf8")).toContain("proxy_pass http://$erp:8069;");
    });

    test("gets a little memory as its buffer where there can be no such file system", async () => {
      machine.docker(":");
      await readyInTime(restart("op_memory-restartErp"));
      expect(compose()).toContain('tmpfs: ["/tmp:size=16m", "/buffer:size=32m,mode=1777"]');
      expect(compose()).toContain('volumes: ["./buffer:/etc/buffer:ro"]');
    });

    test("starts as it did before if the image cannot be pulled", async () => {
      machine.docker('case "$*" in pull*) exit 1 ;; esac');
      const docker = readFileSync(join(machine.notes, "../commands/docker"), "utf8");
      machine.standIn("docker", docker.replace("#!/bin/bash", 'if [ "$*" = "image inspect nginx:1.28" ]; then exit 1; fi'));
      await readyInTime(restart("op_unbuffered-restartErp"));
      expect(site()).toContain("reverse_proxy erp-ins_1:8069 {");
      expect(compose()).not.toContain("nginx");
    });

    test("gets limits that long work keeps to, and none for scheduled jobs, with and without workers", async () => {
      machine.docker(":");
      await readyInTime(restart("op_limits-restartErp"));
      expect(compose()).toMatch(/--limit-time-cpu=600 --limit-time-real=1200 --limit-time-real-cron=31536000"\]/);
    });
  });

  test("the buffer takes uploads as large as the ERP does, and outlasts the ERP's own limit", () => {
    const nginx = (parameter: string): string =>
      call(`PROJECT=erp-x; setting() { echo '${parameter}'; }; DATABASE=shop; nginx_conf`);
    for (const none of ["", "0", "-1", "1; include /etc/passwd"])
      expect(nginx(none)).toContain("client_max_body_size 134217728;");
    const larger = nginx("536870912");
    expect(larger).toContain("client_max_body_size 536870912;");
    expect(larger).toContain("this ERP accepts 512 MB");
    expect(larger).toContain("proxy_read_timeout 1260s;");
  });

  test("a buffer is a sixteenth of what is free, at most 4 GB, and a disk that is almost full has none", () => {
    const bytes = (free: number): number => Number(call(`df() { printf 'Avail\n${free}\n'; }; buffer_bytes`));
    const GB = 1024 ** 3;
    expect([bytes(32 * GB), bytes(640 * GB), bytes(GB)]).toEqual([2 * GB, 4 * GB, 0]);
  });

  test("the buffers of instances that are gone are removed, also those that an earlier version of the script left", async () => {
    machine.docker(":");
    const buffers = join(machine.root, "buffers");
    mkdirSync(join(buffers, "ins_gone"), { recursive: true });
    for (const id of ["ins_1", "ins_gone"]) writeFileSync(join(buffers, `${id}.img`), "");
    mkdirSync(join(machine.root, "instances/ins_removed"), { recursive: true });
    await readyInTime({ id: "op_buffers-removeErp", kind: "remove_erp", instance_id: "ins_removed" });
    expect(readdirSync(buffers).filter((name) => name.startsWith("ins_gone"))).toEqual([]);
    expect(existsSync(join(buffers, "ins_1.img"))).toBe(true);
  });

  test("modules that an installation left half done are found when the ERP responds; names that are none are left out", async () => {
    machine.docker(":");
    machine.standIn("nsenter", PAGES);
    writeFileSync(note("database-says"), "crm\nsale_stock\n$(reboot)\n");
    const health: Job = { id: "op_1-awaitHealthy", kind: "check_health", instance_id: "ins_1" };
    expect(await ssh.run(machine.server, health)).toEqual({
      ready: true,
      result: { unfinished_modules: ["crm", "sale_stock"], modules: null },
    });
  });

  test("installed modules are compared with the image's, which is listed once", async () => {
    machine.docker('echo "$*" >> $NOTES/runs');
    machine.standIn("nsenter", PAGES);
    const rows = [["base", "19.0.1.4"], ["crm", "19.0.1.9"], ["queue_job", "19.0.2.1"], ["$(reboot)", null], [null, "1"], 7];
    writeFileSync(note("database-says"), `${rows.map((row) => JSON.stringify(row)).join("\n")}\n{"cut off`);
    const health = async (id: string) => ssh.run(machine.server, { id, kind: "check_health", instance_id: "ins_1" });
    expect(await health("op_2-awaitHealthy"), "an image without the ERP").toMatchObject({ result: { modules: null } });
    mkdirSync(join(machine.root, "modules"), { recursive: true });
    const listed = { base: "19.0.1.3", crm: "19.0.1.9", sale: "19.0.1.2" };
    writeFileSync(join(machine.root, "modules/image"), JSON.stringify(listed));
    const checked = await health("op_3-awaitHealthy");
    if (!checked.ready) throw new Error("It responds");
    expect(checked.result.modules).toEqual([
      { name: "base", version: "19.0.1.4", image_version: "19.0.1.3" },
      { name: "queue_job", version: "19.0.2.1", image_version: null },
      { name: "__reboot_", version: null, image_version: null },
    ]);
    expect(missingModules(checked.result.modules ?? [])).toEqual(["base", "queue_job", "__reboot_"]);
  });

  test("a site has HSTS and an HTTPS-only session cookie; the one for probes listens to the proxy's container alone", async () => {
    machine.docker("cat > /dev/null");
    machine.standIn("nsenter", PAGES);
    const job: Job = {
      id: "op_move-moveDomain",
      kind: "move_domain",
      instance_id: "ins_1",
      domain: "new.example.com",
      redirects: [],
    };
    await readyInTime(job);
    const site = readFileSync(join(machine.root, "caddy/etc/sites/ins_1.caddy"), "utf8");
    expect(site).toContain("Strict-Transport-Security max-age=31536000");
    expect(site).toContain('header_down Set-Cookie "^(session_id=.*)$" "$1; Secure; SameSite=Lax"');
    expect(site.match(/\treverse_proxy [^\n]+ \{\n\t\timport erp-ins_1-session\n/g), "also of live connections").toHaveLength(2);
    expect(site).toMatch(/^new\.example\.com \{\n\timport erp-ins_1\n\}$/m);
    expect(site).toMatch(/^http:\/\/new\.example\.com:8079 \{\n\tbind 127\.0\.0\.1\n\timport erp-ins_1\n\}$/m);
  });

  test("images without a name are removed, except those that an instance, a drill or a container needs", async () => {
    // As Docker does, the stand-in keeps an image that a container, even a stopped one, was created from.
    machine.docker(`case "$*" in
      "image ls -q --no-trunc --filter dangling=true --filter reference=odoo --filter reference=postgres --filter reference=pgvector/pgvector --filter reference=nginx") cat $NOTES/dangling ;;
      "image rm "*) ! grep -qxF "$3" $NOTES/created || exit 1; sed -i "/^$3$/d" $NOTES/dangling ;;
    esac`);
    machine.standIn("nsenter", PAGES);
    const pinned = { "instances/ins_2/image": "sha256:1", "instances/ins_2/db_image": "sha256:2", "drill/image": "sha256:3" };
    for (const [name, id] of Object.entries(pinned)) {
      mkdirSync(join(machine.root, name, ".."), { recursive: true });
      writeFileSync(join(machine.root, name), id);
    }
    writeFileSync(note("created"), "sha256:4\n");
    const untag = (...ids: string[]): void => writeFileSync(note("dangling"), ids.map((id) => `${id}\n`).join(""));
    const left = (): string[] => readFileSync(note("dangling"), "utf8").trimEnd().split("\n");

    untag("sha256:1", "sha256:2", "sha256:3", "sha256:4", "sha256:5");
    const facts = { erp_version: "19.0", edition: "community", database_name: "new", domain: "c.example.com" } as const;
    await readyInTime({
      id: "op_images-installErp",
      kind: "install_erp",
      instance: { id: "ins_3", admin_email: "a@example.com", ...facts },
      database: "none",
      admin_password: undefined,
      start: false,
    });
    expect(left()).toEqual(["sha256:1", "sha256:2", "sha256:3", "sha256:4"]);

    await readyInTime({ id: "op_images-removeErp", kind: "remove_erp", instance_id: "ins_2" });
    expect(left()).toEqual(["sha256:3", "sha256:4"]);
    rmSync(join(machine.root, "drill"), { recursive: true });
    await readyInTime({ id: "op_images_other-removeErp", kind: "remove_erp", instance_id: "ins_3" });
    expect(left()).toEqual(["sha256:4"]);
  });

  describe("two instances behind the proxy", () => {
    const site = (id: string): string => join(machine.root, "caddy/etc/sites", `${id}.caddy`);
    const siteOf = (domain: string): string => `${domain} {\n}\n`;
    const domains = { ins_1: "a.example.com", ins_2: "b.example.com" };
    const calls = (): string[] => (existsSync(note("calls")) ? readFileSync(note("calls"), "utf8").trimEnd().split("\n") : []);
    const move = (
      id: string,
      instance_id: string,
      domain: string,
      redirects: Job<"move_domain">["redirects"] = [],
    ): Job<"move_domain"> => ({
      id: `op_${id}-moveDomain`,
      kind: "move_domain",
      instance_id,
      domain,
      redirects,
    });
    const REJECTED = {
      name: "GiveUp",
      code: "HOST_JOB_FAILED",
      message: expect.stringContaining("The proxy rejected the domain"),
    };
    beforeEach(() => {
      machine.standIn("nsenter", PAGES);
      for (const [id, domain] of Object.entries(domains)) {
        machine.install(id, {});
        writeFileSync(join(machine.root, "instances", id, "domain"), domain);
        writeFileSync(site(id), siteOf(domain));
      }
      // As Caddy does, the stand-in rejects a configuration that has a domain twice. One that it cannot load is called so here.
      machine.docker(`case "$*" in
        "exec erp-caddy caddy "[ar]*)
          echo $4 >> $NOTES/calls
          if [ $4 = adapt ]; then cd ${machine.root}/caddy/etc/check; else cd ${machine.root}/caddy/etc/sites; fi
          if ! sed -n '/^[a-z]/s/ {$//p' *.caddy | tr , '\n' | tr -d ' ' | sort | uniq -d | grep -q . &&
            ! { [ $4 = reload ] && grep -q unloadable *.caddy; }; then exit; fi
          while [ -e $NOTES/hold ]; do sleep 0.1; done
          exit 1 ;;
        *) cat > /dev/null ;;
      esac`);
    });

    test("a domain that the proxy rejects is never in its configuration, even if the job is killed", async () => {
      writeFileSync(note("hold"), "");
      const killed = move("killed", "ins_1", domains.ins_2);
      await ssh.run(machine.server, killed);
      await until("it is rejected", () => calls().length > 0);
      for (const pid of processesWith(`ERP_HOSTING_ROOT=${machine.root}`)) signal(pid, "SIGKILL");
      rmSync(note("hold"));
      expect(readFileSync(site("ins_1"), "utf8")).toBe(siteOf(domains.ins_1));
      expect(await failure(killed)).toMatchObject(REJECTED);
      expect(readFileSync(site("ins_1"), "utf8")).toBe(siteOf(domains.ins_1));
      await readyInTime(move("other", "ins_2", "c.example.com"));
    });

    test("old domains redirect until their time is over, or another instance takes them", async () => {
      const until = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
      const redirects = [
        { domain: domains.ins_1, redirects_until: until(90) },
        { domain: "older.example.com", redirects_until: until(1) },
        { domain: "over.example.com", redirects_until: until(-1) },
        { domain: domains.ins_2, redirects_until: until(1) }, // which the other instance has
      ];
      const redirected = () => readdirSync(join(machine.root, "caddy/etc/sites")).filter((name) => name.includes(".from-"));
      await readyInTime(move("away", "ins_1", "new.example.com", redirects));
      expect(redirected()).toEqual(["ins_1.from-a.example.com.caddy", "ins_1.from-older.example.com.caddy"]);
      expect(readFileSync(site("ins_1.from-a.example.com"), "utf8")).toBe(
        "a.example.com {\n\tredir https://new.example.com{uri} 307\n}\n",
      );
      expect(statSync(site("ins_1.from-a.example.com")).mtimeMs).toBeCloseTo(Date.parse(redirects[0]?.redirects_until ?? ""), -4);
      await readyInTime(move("takes", "ins_2", domains.ins_1));
      expect(redirected()).toEqual(["ins_1.from-older.example.com.caddy"]);
      expect(readFileSync(site("ins_2"), "utf8")).toMatch(/^a\.example\.com \{$/m);
      await ssh.probe(machine.server, { quotas: new Map(), endedRedirects: new Set(["older.example.com", "$(reboot)"]) });
      expect(redirected()).toEqual([]);

      await readyInTime(move("back", "ins_2", domains.ins_2, [{ domain: domains.ins_1, redirects_until: until(90) }]));
      await readyInTime(move("home", "ins_1", domains.ins_1));
      expect(redirected()).toEqual([]);
      await readyInTime(move("on", "ins_1", "c.example.com", [{ domain: domains.ins_1, redirects_until: until(90) }]));
      expect(redirected()).toEqual(["ins_1.from-a.example.com.caddy"]);
      await readyInTime({ id: "op_gone-removeErp", kind: "remove_erp", instance_id: "ins_1" });
      expect(redirected()).toEqual([]);
    });

    test("no job loads a site that another one is about to take back", async () => {
      writeFileSync(note("hold"), "");
      const [failing, other] = [move("failing", "ins_1", "unloadable.example.com"), move("waiting", "ins_2", "c.example.com")];
      await ssh.run(machine.server, failing);
      await until("it is loaded", () => calls().at(-1) === "reload");
      await ssh.run(machine.server, other);
      await until("it waits", () => existsSync(join(machine.root, "jobs", other.id, "work/site")));
      expect(readFileSync(site("ins_2"), "utf8")).toBe(siteOf(domains.ins_2));
      rmSync(note("hold"));
      expect(await failure(failing)).toMatchObject(REJECTED);
      expect(readFileSync(site("ins_1"), "utf8")).toBe(siteOf(domains.ins_1));
      await readyInTime(other);
      expect(readFileSync(site("ins_2"), "utf8")).toMatch(/^c\.example\.com \{$/m);
    });
  });

  test("SQL runs in a tenant's database as its own role, and as the superuser only in the server's own database", () => {
    const script = hostScript();
    expect(script.match(/-U odoo/g), "no statement names the role itself").toBeNull();
    const users = ["postgres", "shop"].map((database) =>
      call(`sql_as() { echo "$1"; }; HERE=/nowhere; sql ${database} <<<"select 1"`).trim(),
    );
    expect(users).toEqual(["postgres", "odoo"]);
  });
});

/** The output of the script's functions, with stand-ins for the commands that they call. */
function call(code: string, environment: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "script-"));
  try {
    writeFileSync(join(folder, "script.sh"), hostScript());
    chmodSync(join(folder, "script.sh"), 0o700);
    const { stdout, stderr, status } = spawnSync(
      "bash",
      ["-c", `source "$0" probe >/dev/null; ${code}`, join(folder, "script.sh")],
      {
        encoding: "utf8",
        env: { ...process.env, ...environment },
      },
    );
    if (status !== 0) throw new Error(stderr || `It ended with ${status}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("Docker's configuration", () => {
  const configured = (present: string | undefined, info = "inactive"): { file: unknown; calls: string } => {
    const folder = mkdtempSync(join(tmpdir(), "docker-"));
    try {
      for (const each of ["system/etc/docker", "system/run", "job/work"]) mkdirSync(join(folder, each), { recursive: true });
      const file = join(folder, "system/etc/docker/daemon.json");
      if (present !== undefined) writeFileSync(file, present);
      writeFileSync(join(folder, "system/run/docker.pid"), "1234567");
      const calls = call(
        `JOB=${folder}/job
         docker() { case "$*" in *Swarm*) echo ${info} ;; *LiveRestore*) echo true ;; esac; }
         timeout() { shift; "$@"; }
         kill() { echo "kill $*"; }; service() { echo "service $*"; }; systemctl() { echo "systemctl $*"; }
         ip() { case "$*" in *10.213.0.0/16) echo 10.213.7.0/24 dev eth1 ;; *match*) echo default via 10.0.0.1 ;; esac; }
         has_ipv6() { true; }
         configure_docker; configure_docker`,
        { ERP_HOSTING_SYSTEM: join(folder, "system") },
      );
      return { file: JSON.parse(readFileSync(file, "utf8")), calls };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const OURS = {
    "live-restore": true,
    experimental: true,
    ip6tables: true,
    "default-address-pools": [
      { base: "172.17.0.0/16", size: 16 },
      { base: "10.212.0.0/16", size: 28 }, // has no route, as 10.213 has
    ],
  };

  test("the existing Docker configuration and running containers are kept, Docker reloads before it restarts, and nothing is done twice", () => {
    const { file, calls } = configured('{"data-root": "/srv/docker", "log-opts": {"max-size": "5m"}}');
    expect(file).toEqual({ ...OURS, "data-root": "/srv/docker", "log-opts": { "max-size": "5m" } });
    expect(calls).toMatch(/^(kill -HUP 1234567|systemctl reload docker)\n(service docker restart|systemctl restart docker)\n$/);
  });

  test("a missing Docker configuration is created, and existing address ranges stay", () => {
    expect(configured(undefined).file).toEqual(OURS);
    const chosen = [{ base: "10.9.0.0/16", size: 24 }];
    expect(configured(JSON.stringify({ "default-address-pools": chosen })).file).toEqual({
      ...OURS,
      "default-address-pools": chosen,
    });
  });

  test("whoever has turned Docker's rules for IPv6 off keeps that", () => {
    const { experimental: _, ...others } = OURS;
    expect(configured('{"ip6tables": false}').file).toEqual({ ...others, ip6tables: false });
  });

  test("a machine that gets its IPv6 route by advertisements keeps it, also after it has started again", () => {
    const folder = mkdtempSync(join(tmpdir(), "routes-"));
    const setting = (name: string): string => join(folder, "proc/sys/net/ipv6/conf", name, "accept_ra");
    const present = { all: 1, default: 1, lo: 1, eth0: 1, "eth0.5": 1, eth1: 0, eth2: 2, "br-0123": 1, veth7: 1 };
    try {
      for (const [name, value] of Object.entries(present)) {
        mkdirSync(dirname(setting(name)), { recursive: true });
        writeFileSync(setting(name), `${value}\n`);
      }
      call("keep_ipv6_routes", { ERP_HOSTING_SYSTEM: folder });
      const after = Object.keys(present).map((name) => [name, Number(readFileSync(setting(name), "utf8"))]);
      expect(Object.fromEntries(after)).toEqual({ ...present, eth0: 2, "eth0.5": 2 });
      const stored = readFileSync(join(folder, "etc/sysctl.d/60-erp-hosting.conf"), "utf8").trimEnd().split("\n");
      expect(stored.toSorted()).toEqual(["net/ipv6/conf/eth0.5/accept_ra = 2", "net/ipv6/conf/eth0/accept_ra = 2"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("the proxy's network has IPv6 where the machine can pass on its addresses, and none where Docker rejects it", () => {
    const created = (has: boolean, accepts: boolean): string =>
      call(
        `keep_ipv6_routes() { :; }; has_ipv6() { ${has}; }; docker() { echo "$*" >&2; [[ $* != *--ipv6* ]] || ${accepts}; }; make_edge 2>&1`,
      );
    expect(created(true, true)).toMatch(/^network create --ipv6 --subnet fd[0-9a-f]{2}(:[0-9a-f]{4}){3}::\/64 erp-edge\n$/);
    expect(created(true, false)).toMatch(/ --ipv6 [^\n]+\nnetwork create erp-edge\n$/);
    expect(created(false, true)).toBe("network create erp-edge\n");
  });

  test("the proxy's network is replaced by one with IPv6 if it has none, and no other proxy's", () => {
    const calls = (present: string, removes = "true"): string =>
      call(
        `keep_ipv6_routes() { :; }; has_ipv6() { true; }; exists=${present === "" ? 1 : 0}
         docker() {
           case $* in *EnableIPv6*) echo ${present}; return $exists ;; "network inspect"*) return $exists ;; esac
           echo "$*" >&5
           case $* in "network rm"*) exists=1; ${removes} ;; esac
         }
         { renew_edge || echo failed; } 5>&1`,
      ).replaceAll(/--subnet \S+ /g, "");
    expect(calls("false")).toBe("rm -f erp-caddy\nnetwork rm erp-edge\nnetwork create --ipv6 erp-edge\n");
    expect(calls("true")).toBe("");
    expect(calls("")).toBe("network create --ipv6 erp-edge\n");
    expect(calls("false", "false")).toBe("rm -f erp-caddy\nnetwork rm erp-edge\nfailed\n");
  });

  test("an operator's renewal of the proxy succeeds, or says why it does not", () => {
    const ROOT = mkdtempSync(join(tmpdir(), "renewal-"));
    const renew = (reloads: string, renews = "true"): string =>
      call(
        `mkdir -p "$ROOT/locks"; for name in require_docker configure_docker refresh_firewall; do eval "$name() { :; }"; done
         renew_edge() { ${renews}; }; reload_proxy() { ${reloads}; }; renew_proxy`,
        { ERP_HOSTING_ROOT: ROOT },
      );
    try {
      expect(renew("true")).toBe("");
      expect(() => renew("false")).toThrow(/^The proxy does not start\n$/);
      // With something else in it, the old network stays, and the proxy starts in it again.
      expect(() => renew("echo reloaded >&2", "false")).toThrow(/^reloaded\nThe proxy's network could not be replaced\n$/);
    } finally {
      rmSync(ROOT, { recursive: true });
    }
  });

  test("the Docker configuration of a machine in a swarm is left unchanged", () => {
    expect(() => configured("{}", "active")).toThrow("It ended with 1");
  });
});

describe("shares", () => {
  const shares = (
    mb: number,
    processors: number,
    instances: number,
  ): { db: number; erp: number; cpus: number; workers: number } => {
    const folder = mkdtempSync(join(tmpdir(), "shares-"));
    try {
      for (let number = 0; number < instances; number += 1)
        mkdirSync(join(folder, "instances", `ins_${number}`), { recursive: true });
      const [db, erp, cpus, workers] = call(
        `memory_mb() { echo ${mb}; }; nproc() { echo ${processors}; }; share; echo "$DB_MB $ERP_MB $CPUS $WORKERS"`,
        { ERP_HOSTING_ROOT: folder },
      )
        .trim()
        .split(" ")
        .map(Number);
      return { db: db ?? 0, erp: erp ?? 0, cpus: cpus ?? 0, workers: workers ?? 0 };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test.each([
    [3900, 2, 1],
    [15_900, 4, 5],
    [64_000, 16, 40],
  ])(
    "the shares of %i MB and %i processors among %i instances leave room for the machine itself",
    (mb, processors, instances) => {
      const { db, erp, cpus, workers } = shares(mb, processors, instances);
      expect(instances * (db + erp)).toBeLessThanOrEqual(mb - 384);
      expect(cpus).toBeLessThanOrEqual(0.9 * processors);
      expect(workers * 300).toBeLessThanOrEqual(Math.max(erp, 600));
    },
  );

  test("with one more instance, the others shrink, but no job's container, nor a database below what it was started with", () => {
    const stats = {
      "erp-ins_1": "300MiB",
      "erp-ins_1-db": "100MiB",
      "erp-ins_2": "900MiB",
      "erp-ins_2-db": "100MiB",
      "erp-ins_2-files": "20MiB",
      "erp-ins_2-psql": "20MiB",
      "erp-ins_2-pg_dump": "20MiB",
      "erp-ins_2-buffer": "20MiB",
      "erp-ins_2-job": "20MiB",
      "erp-list-op_1-verifyArchive": "20MiB",
      "erp-new": "20MiB",
      "erp-new-db": "20MiB",
      "erp-drill-db": "20MiB",
      "erp-caddy": "20MiB",
      other: "20MiB",
    };
    const lines = Object.entries(stats).map(([name, used]) => `${name} ${used} / 8GiB`);
    const updates = call(
      `ID=new PROJECT=erp-new DB_MB=256 ERP_MB=768 CPUS=1
       docker() { case "$*" in
         stats*) echo '${lines.join("\n")}' ;;
         update*) echo "\${!#} $3" >&2 ;;
         *erp-ins_1-db) echo "[postgres -c max_connections=120 -c shared_buffers=1024MB -c effective_cache_size=3072MB]" ;;
         *erp-ins_2-db) echo "[postgres -c shared_buffers=64MB]" ;;
       esac; }
       resize_others 2>&1`,
    );
    expect(updates.trim().split("\n")).toEqual(["erp-ins_1 768m", "erp-ins_1-db 2176m", "erp-ins_2 1125m", "erp-ins_2-db 256m"]);
  });

  test("the share of an instance is never less than an ERP needs", () => {
    expect(shares(960, 1, 4)).toEqual({ db: 256, erp: 512, cpus: 0.5, workers: 0 });
  });
});
