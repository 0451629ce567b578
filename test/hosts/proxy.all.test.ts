// The sites of instances in the proxy.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Job } from "../../shared/hosts/host.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { noMachine, PAGES, processesWith, signal, until } from "./machine.ts";
import { failure, machine, note, readyInTime, startHouse } from "./house.ts";

describe("sites in the proxy", unless(noMachine), () => {
  startHouse();

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
    expect(site).toContain(" {\n\t\t\troll_size 20MiB\n\t\t\troll_keep 2\n\t\t\troll_uncompressed\n\t\t}\n"); // its log: three files
    for (const rule of ['request>uri regexp "[?].*" ""', "request>headers delete", "request>tls delete", "resp_headers delete"])
      expect(site).toContain(`\t\t\t\t${rule}\n`);
    expect(site).toMatch(/^new\.example\.com \{\n\timport erp-ins_1\n\timport erp-ins_1-log\n\}$/m);
    expect(site).toMatch(/^http:\/\/new\.example\.com:8079 \{\n\tbind 127\.0\.0\.1\n\timport erp-ins_1\n\}$/m);
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
});
