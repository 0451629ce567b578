// How containers are isolated from each other and from the machine, and what the script keeps of them.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Job } from "../../shared/hosts/host.ts";
import { missingModules } from "../../shared/domain/missing-modules.ts";
import { because, inEnglish, reasonIn } from "../../shared/domain/reasons.ts";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { noMachine, PAGES } from "./machine.ts";
import { call, fact, machine, note, readyInTime, restart, startHouse } from "./house.ts";

describe("containers on a machine", unless(noMachine), () => {
  startHouse();

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
    const script = `docker() { ${docker}; }; JOB=${job}; if is_running erp-x; then echo yes; else echo no; fi`;
    expect(call(`(${script}) || echo unknown`).trim()).toBe(runs);
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
        expect(text).toMatch(/th dport 53 accept\n {4}ip daddr \{ 168\.63\.129\.16, 169\.254\.0\.0\/16 \} drop/);
        for (const network of ["10.0.0.0/8", "168.63.129.16, 169.254.0.0/16, ", "fc00::/7", "fe80::/10", "::ffff:0:0/96"])
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
      mkdirSync(join(machine.root, "buffers"), { recursive: true });
      writeFileSync(join(machine.root, "buffers/ins_1.img"), "");
      truncateSync(join(machine.root, "buffers/ins_1.img"), 256 * 1024 ** 2);
      await readyInTime(restart("op_buffered-restartErp"));
      machine.standIn("mountpoint", 'exec /usr/bin/mountpoint "$@"');
      expect(site()).toContain("reverse_proxy erp-ins_1-buffer:8080 {");
      expect(compose()).toContain(`volumes: ["./buffer:/etc/buffer:ro", "${machine.root}/buffers/ins_1:/buffer"]`);
      expect(compose()).toContain('environment: { ODOO_HTTP_SOCKET_TIMEOUT: "300", TMPDIR: /var/lib/odoo/tmp }');
      const nginx = readFileSync(fact("buffer/nginx.conf"), "utf8");
      expect(nginx).toContain("proxy_pass http://$erp:8069;");
      expect(nginx, "a response takes a small share of the buffer").toContain(`proxy_max_temp_file_size ${8 * 1024 ** 2};`);
      expect(nginx).toContain("error_page 500 =503 @full;");
      expect(nginx).toContain("Too many large uploads and downloads at once");
      // Each container's log is bounded.
      expect(compose()).toContain('x-logging: &logging\n  driver: json-file\n  options: { max-size: 10m, max-file: "3" }\n');
      expect(compose().match(/^ {4}container_name: /gm)).toHaveLength(3);
      expect(compose().match(/^ {4}logging: \*logging$/gm)).toHaveLength(3);
    });

    test("gets a little memory as its buffer where there can be no such file system", async () => {
      machine.docker(":");
      await readyInTime(restart("op_memory-restartErp"));
      expect(compose()).toContain('tmpfs: ["/tmp:size=16m", "/buffer:size=32m,mode=1777"]');
      expect(compose()).toContain('volumes: ["./buffer:/etc/buffer:ro"]');
      const nginx = readFileSync(fact("buffer/nginx.conf"), "utf8");
      expect(nginx, "no response is cut off for want of room").toContain("proxy_max_temp_file_size 0;");
      expect(nginx).toContain(
        "There is no room for this upload: all uploads at once have 32 MB, because the server cannot mount",
      );
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
      call(`ID=x PROJECT=erp-x; setting() { echo '${parameter}'; }; DATABASE=shop; nginx_conf`);
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

  test("why an ERP does not respond is said with a code, whatever it is", async () => {
    const health: Job = { id: "op_1-awaitHealthy", kind: "check_health", instance_id: "ins_1" };
    const readCode = async (): Promise<string | undefined> => {
      const progress = await ssh.run(machine.server, health);
      return progress.ready ? "ready" : progress.reason?.code;
    };
    machine.docker(":");
    machine.standIn("nsenter", PAGES);
    writeFileSync(fact("paused"), "quota");
    expect(await readCode()).toBe("erp_paused");
    rmSync(fact("paused"));
    for (const [ended, code] of [
      ["erp-ins_1-db", "database_server_not_running"],
      ["erp-ins_1", "erp_not_running"],
      ["erp-caddy", "proxy_not_running"],
    ] as const) {
      writeFileSync(note("ended"), `${ended}\n`);
      expect(await readCode()).toBe(code);
    }
    rmSync(note("ended"));
    for (const part of ["stylesheet", "script"] as const) {
      writeFileSync(note("broken-page"), part);
      expect(await readCode()).toBe(`erp_lacks_${part}`);
    }
    machine.standIn("nsenter", "exit 1");
    expect(await readCode()).toBe("erp_silent");
    const sentences = readFileSync("shared/hosts/script/run.sh", "utf8").matchAll(/reason="([A-Z][^"]+)"/g);
    for (const [, sentence = ""] of sentences) expect(reasonIn(sentence), sentence).not.toBeNull();
    expect(call("sentence_on_page page").trim()).toBe(inEnglish(because("erp_shows_no_page")));
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

  test("images without a name are removed, except those that an instance, a drill or a container needs", async () => {
    // As Docker does, the stand-in keeps an image that a container, even a stopped one, was created from.
    machine.docker(`case "$*" in
      "image ls -q --no-trunc --filter dangling=true --filter reference=odoo --filter reference=postgres --filter reference=pgvector/pgvector --filter reference=nginx --filter reference=caddy") cat $NOTES/dangling ;;
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
    const listDangling = (): string[] => readFileSync(note("dangling"), "utf8").trimEnd().split("\n");

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
    expect(listDangling()).toEqual(["sha256:1", "sha256:2", "sha256:3", "sha256:4"]);

    await readyInTime({ id: "op_images-removeErp", kind: "remove_erp", instance_id: "ins_2" });
    expect(listDangling()).toEqual(["sha256:3", "sha256:4"]);
    rmSync(join(machine.root, "drill"), { recursive: true });
    await readyInTime({ id: "op_images_other-removeErp", kind: "remove_erp", instance_id: "ins_3" });
    expect(listDangling()).toEqual(["sha256:4"]);
  });

  test("SQL runs in a tenant's database as its own role, and as the superuser only in the server's own database", () => {
    const script = hostScript();
    expect(script.match(/-U odoo/g), "only the watch, which has none of these functions, names the role itself").toHaveLength(1);
    const users = ["postgres", "shop"].map((database) =>
      call(`sql_as() { echo "$1"; }; HERE=/nowhere; sql ${database} <<<"select 1"`).trim(),
    );
    expect(users).toEqual(["postgres", "odoo"]);
  });
});
