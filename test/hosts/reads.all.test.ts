// What a restore, a clone, a drill and an import move: the store serves each archive once, whatever is in it.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { zipSync } from "fflate";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Job } from "../../shared/hosts/host.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { unless } from "../harness/unless.ts";
import { type MachineWithJobs, machineWithJobs } from "./jobs.ts";
import { noMachine, PAGES } from "./machine.ts";

/** The share of an archive that is served, its listing and HTTP's heads included. */
const SHARE_MAX = 1.05;
const FILE_BYTES = 2_500_000;

describe("the archive of a backup", unless(noMachine), () => {
  let jobs: MachineWithJobs;
  let wire: Awaited<ReturnType<typeof meter>>;
  let archive: StoredArchive;
  let bytes: Uint8Array;
  beforeAll(async () => {
    jobs = await machineWithJobs();
    jobs.machine.standIn("nsenter", `if [[ "$*" == *--config* ]]; then ${PAGES}; else printf 200; fi`);
    wire = await meter(Number(new URL(String(process.env["AWS_ENDPOINT_URL"])).port));
    jobs.begin();
    // Many small files, so that the listing is a large part of it.
    const files = Array.from({ length: 1000 }, (_, index) => [`file-${index}`, randomBytes(index)] as const);
    jobs.machine.install("ins_1", { ...Object.fromEntries(files), large: randomBytes(FILE_BYTES) });
    ({ archive, bytes } = await jobs.backUp());
    process.env["AWS_ENDPOINT_URL_S3"] = wire.url;
  });
  beforeEach(() => {
    jobs.begin();
    // What a drill asks its database for.
    for (const name of ["counted", "attachments"]) writeFileSync(join(jobs.machine.notes, name), "");
  });
  afterEach(() => jobs.end());
  afterAll(async () => {
    await wire.stop();
    await jobs.machine.stop();
  });

  const BOTH = { restore_database: true, restore_filestore: true };
  /** What the database server was asked for; nothing if the job ended before. */
  function readStatements(name = "asked"): string {
    const note = join(jobs.machine.notes, name);
    return existsSync(note) ? readFileSync(note, "utf8") : "";
  }
  /** Bytes per byte of the archive. */
  async function served(work: () => Promise<unknown>): Promise<number> {
    const before = wire.bytes();
    await work();
    return (wire.bytes() - before) / archive.size_bytes;
  }
  const build = (source = archive) =>
    jobs.run<"build_restore">({
      kind: "build_restore",
      instance_id: "ins_1",
      restore_id: `op_reads_${randomBytes(4).toString("hex")}`,
      archive: source,
      neutralize: false,
      backup_first: false,
      ...BOTH,
    });
  const drill = () => jobs.run<"drill_archive">({ kind: "drill_archive", archive, edition: "community", note: null });
  /** Verifies the archive without what the machine knows from the last verification. */
  const verify = async (): Promise<void> => {
    for (const name of readdirSync(join(jobs.machine.root, "archives"))) forget(name);
    await jobs.verify(archive);
  };
  const forget = (name: string): void => writeFileSync(join(jobs.machine.root, "archives", name), "{}");

  test.each([
    ["a restore", build],
    ["a clone", () => jobs.restore(archive, BOTH)],
    ["a drill", drill],
  ])("is served once for %s, with the listing that comes first", async (_, work) => {
    const share = await served(async () => {
      await verify();
      await work();
    });
    expect(share).toBeGreaterThan(1);
    expect(share).toBeLessThan(SHARE_MAX);
  });

  test("is served once for an import", async () => {
    forget(`${archive.sha256}.json`);
    const { key, size_bytes, sha256 } = archive;
    const job: Omit<Job<"import_archive">, "id"> = {
      kind: "import_archive",
      archive: { key, size_bytes, sha256 },
      erp_versions: ["19.0"],
      note: null,
    };
    expect(await served(() => jobs.run<"import_archive">(job))).toBeLessThan(SHARE_MAX);
  });

  test("is loaded by a role that owns the new database alone, until all of it was right", async () => {
    writeFileSync(join(jobs.machine.notes, "meanwhile"), "cp $NOTES/asked $NOTES/asked-before");
    await build();
    const [before, after] = [readStatements("asked-before"), readStatements()];
    expect(before).toMatch(/alter role erp_restore login nosuperuser nocreatedb nocreaterole password '\w+'/);
    expect(before).toMatch(/create database "new_\w+" owner erp_restore /);
    expect(before).not.toContain("reassign");
    expect(after).toMatch(/reassign owned by erp_restore to odoo; alter role erp_restore nologin password null/);
  });

  test.each([
    ["in a file", FILE_BYTES / 2],
    ["in its listing", -60_000],
    ["in its last record", -10],
  ])("with one byte changed %s is corrupt, and nothing of it becomes the ERP's", async (_, place) => {
    const changed = Buffer.from(bytes);
    const at = place < 0 ? changed.length + place : place;
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    const tampered = await jobs.stored(changed, bytes);
    const job = async (): Promise<void> => {
      await jobs.verify(tampered);
      await build(tampered);
    };
    await expect(job()).rejects.toMatchObject({ code: "BACKUP_CORRUPT", message: expect.stringContaining("match its checksum") });
    expect(existsSync(jobs.store("shop", "present"))).toBe(true);
    expect(readStatements()).not.toMatch(/reassign|rename/);
  });

  test("of another that is valid, in its place, is corrupt before anything of it becomes the ERP's", async () => {
    const sql = "drop table everything;\n-- PostgreSQL database dump complete\n";
    const other = zipSync({ "dump.sql": Buffer.from(sql), "manifest.json": Buffer.from('{"major_version":"19.0"}') });
    const { key } = await jobs.stored(other);
    const expected = createHash("sha256").update("the one that was made").digest("hex");
    const replaced = { ...archive, key, size_bytes: other.length, sha256: expected };
    await expect(build(replaced)).rejects.toMatchObject({ code: "BACKUP_CORRUPT" });
    expect(readStatements()).not.toMatch(/reassign|rename/);
  });
});

/** Counts what passes from the server to its clients. */
async function meter(port: number) {
  let bytes = 0;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
    }
    near.pipe(far);
    far.on("data", (data) => (bytes += data.length));
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    bytes: (): number => bytes,
    stop: () => new Promise<unknown>((resolve) => server.close(resolve)),
  };
}
