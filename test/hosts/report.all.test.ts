// What a machine reports about itself: the real script over SSH, with real certificates in the place of the proxy's.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../shared/domain/ids.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, startMachine, type TestMachine } from "./machine.ts";

describe("a machine's report", unless(noMachine), () => {
  let machine: TestMachine;
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
  });
  afterEach(() => {
    machine.docker(PROXY);
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name), { recursive: true });
    rmSync(join(machine.root, "instances"), { recursive: true, force: true });
  });
  afterAll(() => machine.stop());

  /** The proxy's container has its files and its log among the machine's notes. */
  const PROXY = `case "$1 $2 $3" in
    "exec -i erp-caddy") exec sh -c "\${6//\\/data\\/caddy/$NOTES/caddy}" ;;
    "logs --tail 20000") cat $NOTES/log >&2 ;;
  esac`;
  beforeAll(() => {
    machine.docker(PROXY);
    machine.standIn("getent", 'grep -qFx "$2" $NOTES/records 2>/dev/null');
  });

  function instance(id: string, domain: string): void {
    mkdirSync(join(machine.root, "instances", id), { recursive: true });
    writeFileSync(join(machine.root, "instances", id, "domain"), domain);
  }
  function certificate(stored: string, { of = stored, days = 30, issuer = "acme-v02" } = {}): void {
    const folder = join(machine.notes, "caddy/certificates", issuer, stored);
    mkdirSync(folder, { recursive: true });
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null"];
    const name = ["-subj", "/CN=test", "-addext", `subjectAltName=DNS:${of}`];
    const file = join(folder, `${stored}.crt`);
    execFileSync("openssl", ["req", "-x509", ...key, ...name, "-days", String(days), "-out", file], { stdio: "ignore" });
    // A chain: only the first one is the domain's own.
    execFileSync("bash", ["-c", `cat "$0" "$0" > "$0.chain" && mv "$0.chain" "$0"`, file]);
  }
  const log = (...lines: unknown[]): void =>
    writeFileSync(
      join(machine.notes, "log"),
      lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
    );
  const failed = (identifier: string, logger = "tls.obtain") => ({
    level: "error",
    ts: 1,
    logger,
    msg: "could not get certificate from issuer",
    identifier,
    issuer: "acme-v02.api.letsencrypt.org-directory",
    error: "HTTP 400 urn:ietf:params:acme:error:unauthorized",
  });
  const obtained = (identifier: string) => ({
    level: "info",
    ts: 2,
    logger: "tls.obtain",
    msg: "certificate obtained successfully",
    identifier,
  });
  const records = (...domains: string[]): void =>
    writeFileSync(join(machine.notes, "records"), domains.map((domain) => `${domain}.\n`).join(""));
  test("has the samples of three hours, also of 150 instances", async () => {
    const now = Math.floor(Date.now() / 1000);
    const ids = Array.from({ length: 150 }, () => newId("instance"));
    const figures = (minute: number) =>
      ids.map(
        (id, index) =>
          `"${id}":[${Array(15)
            .fill(minute + index)
            .join(",")}]`,
      );
    const lines = Array.from({ length: 180 }, (_, minute) => {
      return `{"t":${now - (179 - minute) * 60},"s":[1],"i":{${figures(100 + minute).join(",")}}}\n`;
    });
    mkdirSync(join(machine.root, "watch"), { recursive: true });
    writeFileSync(join(machine.root, "watch/ring"), lines.join(""));
    expect((await ssh.probe(machine.server)).samples).toHaveLength(180);
    rmSync(join(machine.root, "watch"), { recursive: true });
  });

  const report = async () => (await ssh.probe(machine.server)).report;
  const certificates = async () =>
    Object.fromEntries((await report())?.certificates?.map(({ instance_id, ...rest }) => [instance_id, rest]) ?? []);
  const inDays = (days: number): unknown =>
    expect.toSatisfy((at) => Math.abs(Date.parse(String(at)) - Date.now() - days * 86_400_000) < 60_000);

  test("the free space of the disk and the available memory are the kernel's", async () => {
    const { disk_free_bytes, memory_free_bytes, certificates: none } = (await report()) ?? {};
    const { bavail, bsize } = statfsSync(machine.root);
    expect(Math.abs(Number(disk_free_bytes) - bavail * bsize)).toBeLessThan(1e9);
    const kernel = Number(execFileSync("awk", ["/^MemAvailable:/ { print $2 * 1024 }", "/proc/meminfo"], { encoding: "utf8" }));
    expect(Math.abs(Number(memory_free_bytes) - kernel)).toBeLessThan(1e9);
    expect(none).toEqual([]);
  });

  test("the machine needs a reboot if its system has left a note of that", async () => {
    expect(await report()).toMatchObject({ needs_reboot: false });
    const run = join(machine.root, "../system/run");
    mkdirSync(run, { recursive: true });
    writeFileSync(join(run, "reboot-required"), "*** System restart required ***\n");
    expect(await report()).toMatchObject({ needs_reboot: true });
    rmSync(join(run, "reboot-required"));
    expect(await report()).toMatchObject({ needs_reboot: false });
  });

  test("each instance that was measured has the image of its ERP, and when that was created, if Docker knows it", async () => {
    const [known, gone] = ["a", "b"].map((letter) => `sha256:${letter.repeat(64)}`);
    for (const [id, image = ""] of Object.entries({ known, gone })) {
      instance(`ins_${id}`, `${id}.example.com`);
      const file = (name: string) => join(machine.root, "instances", `ins_${id}`, name);
      writeFileSync(file("disk"), "5 0\n");
      writeFileSync(file("image"), image);
    }
    instance("ins_new", "new.example.com");
    writeFileSync(join(machine.root, "instances/ins_new/disk"), "6 0\n");
    // A copy that a person has made.
    instance("ins_new.bak", "new.example.com");
    writeFileSync(join(machine.root, "instances/ins_new.bak/disk"), "6 0\n");
    writeFileSync(
      join(machine.notes, "images"),
      `for id in "$@"; do if [ "$id" = ${known} ]; then echo "$id 2026-11-20T03:00:00.123456789Z"; fi; done; exit 1`,
    );
    const images = Object.fromEntries(((await report())?.uses ?? []).map(({ instance_id, image }) => [instance_id, image]));
    expect(images).toEqual({
      ins_known: { id: known, created_at: "2026-11-20T03:00:00.123Z" },
      ins_gone: { id: gone, created_at: null },
      ins_new: null,
    });
  });

  test("each instance has the certificate of its domain as the proxy has it", async () => {
    const ids = ["valid", "none", "unset", "misled", "renewal", "strange", "again"];
    for (const id of ids) instance(id, `${id}.example.com`);
    certificate("valid.example.com");
    certificate("valid.example.com", { days: 90, issuer: "zerossl" });
    certificate("renewal.example.com", { days: 5 });
    certificate("strange.example.com", { of: "other.example.com" });
    certificate("again.example.com");
    certificate("deleted.example.com");
    log(
      failed("unset.example.com"),
      failed("misled.example.com"),
      failed("again.example.com"),
      obtained("again.example.com"),
      failed("renewal.example.com", "tls.renew"),
      failed("deleted.example.com"),
    );
    records("misled.example.com", "deleted.example.com");
    const pending = { expires_at: null, failing: false };
    expect(await certificates()).toEqual({
      valid: { domain: "valid.example.com", expires_at: inDays(90), failing: false },
      none: { domain: "none.example.com", ...pending },
      unset: { domain: "unset.example.com", ...pending },
      misled: { domain: "misled.example.com", expires_at: null, failing: true },
      renewal: { domain: "renewal.example.com", expires_at: inDays(5), failing: true },
      strange: { domain: "strange.example.com", expires_at: inDays(30), failing: true },
      again: { domain: "again.example.com", expires_at: inDays(30), failing: false },
    });
  });

  test("what a tenant's requests leave in the proxy's log is no attempt of the proxy's", async () => {
    instance("ins_1", "shop.example.com");
    records("shop.example.com");
    const uri = JSON.stringify(failed("shop.example.com"));
    log(
      { level: "error", logger: "http.log.error", msg: "dial tcp", request: { uri, host: "shop.example.com" } },
      { level: "error", logger: "http.log.error", msg: "could not get certificate from issuer", identifier: "shop.example.com" },
      `nonsense ${uri}`,
      '{"logger":"tls.obtain","msg":["could not get certificate from issuer"],"identifier":{"a":1}}',
      '{"logger":"tls.',
    );
    expect((await certificates())["ins_1"]).toMatchObject({ failing: false });
  });

  test("files that are no certificates, and facts that are no domains, are left out", async () => {
    instance("ins_1", "shop.example.com");
    instance("ins_2", "$(touch /tmp/ran).example.com");
    instance("ins_3", "../../etc");
    certificate("shop.example.com");
    writeFileSync(
      join(machine.notes, "caddy/certificates/acme-v02/shop.example.com/shop.example.com.crt"),
      "certificate of x\n-----END",
    );
    expect(await certificates()).toEqual({ ins_1: { domain: "shop.example.com", expires_at: null, failing: false } });
  });

  test.each([
    ["hangs", "exec sleep 600"],
    ["is not there", "exit 1"],
  ])("a machine whose Docker %s reports its disk and memory all the same", async (_, docker) => {
    instance("ins_1", "shop.example.com");
    machine.standIn("docker", docker);
    expect(await report()).toEqual({
      disk_size_bytes: expect.any(Number),
      disk_free_bytes: expect.any(Number),
      uses: [],
      memory_free_bytes: expect.any(Number),
      needs_reboot: false,
      certificates: undefined,
    });
  });

  test("a machine whose proxy is not running reports no certificates", async () => {
    instance("ins_1", "shop.example.com");
    machine.docker("exit 1");
    expect(await report()).toMatchObject({ certificates: undefined });
  });
});
