// Hostile trees of files in an ERP's volume, under backup and restore: nothing of the machine is read or changed, and every
// honest file comes back.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { machineWithJobs, type MachineWithJobs, sha256 } from "../hosts/jobs.ts";
import { noMachine } from "../hosts/machine.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const ENTRIES = 25;
const LONGEST_NAME = 255;
const SPARSE_BYTES = 20_000_000;

/** Names of files: text that a zip can hold, or any bytes that a file system takes. */
function textName(random: Random): string {
  const alphabet = [
    "a",
    "Z",
    "0",
    " ",
    "-",
    ".",
    "_",
    "ü",
    "日",
    "💥",
    "'",
    '"',
    "$(x)",
    "`",
    ";",
    "\\",
    "*",
    "\n",
    "\t",
    "%2F",
    "~",
  ];
  const length = random.chance(0.1) ? 60 : 1 + random.below(8);
  const name = Array.from({ length }, () => random.oneOf(alphabet)).join("");
  return Buffer.byteLength(name) > LONGEST_NAME - 6 || /^\.+$/.test(name)
    ? `n${random.below(1e6)}`
    : `${name}${random.below(1e6)}`;
}
const anyName = (random: Random): Buffer => {
  const bytes = Buffer.from(
    Array.from({ length: 1 + random.below(12) }, () => 1 + random.below(255)).map((byte) => (byte === 0x2f ? 0xff : byte)),
  );
  return Buffer.concat([bytes, Buffer.from([0xff])]); // never valid UTF-8
};

interface Tree {
  /** Path and contents of every file that must come back. */
  honest: Map<string, Buffer>;
  /** Grows during the backup: any beginning of what it becomes is right. */
  growing: string[];
}

function plant({ store, secret, folder }: MachineWithJobs, random: Random): Tree {
  const root = store("shop");
  const honest = new Map<string, Buffer>([["present", Buffer.from("present")]]);
  const growing: string[] = [];
  const folders = [""];
  const place = (name: string): string => join(root, random.oneOf(folders), name);
  const relative = (path: string): string => path.slice(root.length + 1);
  const targets = [
    secret,
    folder,
    "/etc/shadow",
    "/",
    "..",
    "../../../..",
    "/proc/self/environ",
    ".",
    "no-such-file",
    join(root, "present"),
  ];
  const kinds: (() => void)[] = [
    () => {
      const path = place(textName(random));
      const bytes = random.chance(0.1) ? Buffer.alloc(0) : randomBytes(random.below(30_000));
      writeFileSync(path, bytes);
      honest.set(relative(path), bytes);
    },
    () => {
      const path = place(textName(random));
      mkdirSync(path, { recursive: true });
      folders.push(relative(path));
    },
    () => symlinkSync(random.oneOf(targets), place(textName(random))),
    () => {
      const path = place("x".repeat(LONGEST_NAME - 5) + String(10_000 + random.below(89_999)));
      writeFileSync(path, "long");
      honest.set(relative(path), Buffer.from("long"));
    },
    () => writeFileSync(Buffer.concat([Buffer.from(`${place("")}/`), anyName(random)]), "no text"),
    () => void execFileSync("mkfifo", [place(`fifo-${random.below(1e6)}`)]),
    () => void execFileSync("mknod", [place(`device-${random.below(1e6)}`), "c", "1", "3"]),
    () =>
      void execFileSync(
        "python3",
        ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", `s${random.below(1e6)}`],
        { cwd: root },
      ),
    () => {
      const path = place(`sparse-${random.below(1e6)}`);
      writeFileSync(path, "start");
      truncateSync(path, SPARSE_BYTES);
      honest.set(relative(path), Buffer.concat([Buffer.from("start"), Buffer.alloc(SPARSE_BYTES - 5)]));
    },
    () => {
      const path = place(`growing-${random.below(1e6)}`);
      writeFileSync(path, "g".repeat(1_000));
      growing.push(relative(path));
    },
  ];
  // Honest files most of all; one sparse file is enough to show it.
  const weighted = kinds.flatMap((kind, index) => Array.from({ length: [8, 3, 4, 1, 2, 1, 1, 1, 0, 1][index] ?? 1 }, () => kind));
  for (let i = 0; i < ENTRIES; i++) random.oneOf(weighted)();
  if (random.chance(0.2)) kinds[8]?.();
  return { honest, growing };
}

/** Every regular file below the folder whose name is text; links are not followed. */
function filesBelow(root: string, path = ""): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    if (entry.name.includes("\uFFFD")) continue;
    const at = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) for (const [name, bytes] of filesBelow(root, at)) files.set(name, bytes);
    else if (entry.isFile()) files.set(at, readFileSync(join(root, at)));
  }
  return files;
}

/** The machine outside of the volume, as far as an attack could reach it. */
const machineIs = ({ machine, folder }: MachineWithJobs): string =>
  JSON.stringify([
    statSync(folder).mode,
    lstatSync("/etc/passwd").mtimeMs,
    lstatSync("/etc/passwd").uid,
    readdirSync(join(machine.root, "instances")),
  ]);

function expectSame(files: ReadonlyMap<string, Uint8Array>, { honest, growing }: Tree, where: string): void {
  const unexpected = [...files.keys()].filter((name) => !honest.has(name) && !growing.includes(name));
  expect(unexpected, `${where} has more than the honest files`).toEqual([]);
  for (const [name, bytes] of honest)
    expect(sha256(files.get(name) ?? Buffer.from("missing")), `${JSON.stringify(name)} in ${where}`).toBe(sha256(bytes));
  for (const name of growing) expect(Buffer.from(files.get(name) ?? "missing").toString(), `${name} in ${where}`).toMatch(/^g+$/);
}

const PASSWORD = "a password that a job gets";

/** The arguments of all processes of the machine, which everybody on it can see. */
const processList = (): string =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1");
      } catch {
        return ""; // it has ended
      }
    })
    .join("\n");

/** Expects that a job's secret is in no process list while the job runs, and afterwards in no file that jobs leave. */
async function expectSecret(jobs: MachineWithJobs, random: Random): Promise<void> {
  const password = `secret-${random.below(1e9)}-${randomBytes(12).toString("hex")}`;
  const processLists: string[] = [];
  const watch = setInterval(() => processLists.push(processList()), 15);
  const job = { kind: "personalize", instance_id: "ins_1", domain: "shop.example.com", admin_email: "a@example.com" } as const;
  // Whether the stand-ins let it succeed does not matter.
  await jobs.run<"personalize">({ ...job, admin_password: password, reset_users: true, keep_uuid: false }).catch(() => undefined);
  clearInterval(watch);
  expect(processLists.length, "looks at the process list").toBeGreaterThan(0);
  expect(
    processLists.filter((list) => list.includes(password)),
    "the password is in the process list",
  ).toEqual([]);
  const leftovers = spawnSync("grep", ["-rlF", password, jobs.machine.root, jobs.machine.notes, jobs.machine.volume], {
    encoding: "utf8",
  });
  expect(leftovers.stdout, "files with the password").toBe("");
}

/** What is done with the backup: copied into an instance that nobody uses yet, restored, or restored and put back. */
const USES = ["a clone", "a restore", "a restore that is put back"] as const;

/**
 * What the ERP, which runs on, can do to the folders of a restore that has been built beside its own. Returns whether the restore
 * may succeed afterwards; undefined if it may do either.
 */
function tamperWith({ store, secret, folder, hostile }: MachineWithJobs, restoreId: string, random: Random): boolean | undefined {
  const [built, old] = [store(`new_${restoreId}`), store(`old_${restoreId}`)];
  const ways: (() => boolean | void)[] = [
    () => {
      rmSync(built, { recursive: true });
      return false;
    },
    () => {
      renameSync(built, old);
      return false;
    },
    () => {
      mkdirSync(join(built, "closed/in"), { recursive: true });
      chmodSync(join(built, "closed"), 0);
      return true;
    },
    () => symlinkSync(secret, join(built, `link-${random.below(1e6)}`)),
    () => {
      rmSync(built, { recursive: true });
      symlinkSync(folder, built);
    },
    () => symlinkSync(folder, old),
    () => {
      mkdirSync(old);
      symlinkSync(secret, join(old, "authorized_keys"));
    },
    () => {
      rmSync(store("shop"), { recursive: true });
      symlinkSync(folder, store("shop"));
    },
  ];
  const succeeds = random.oneOf(ways)();
  hostile(":");
  return succeeds ?? undefined;
}

/**
 * Uses the archive by the jobs of the workflow. Returns whether the files must be as expected afterwards: not if the ERP has
 * tampered with them, which harms itself alone.
 */
async function use(
  usage: (typeof USES)[number],
  archive: StoredArchive,
  jobs: MachineWithJobs,
  random: Random,
): Promise<boolean> {
  const both = { restore_database: true, restore_filestore: true };
  if (usage === "a clone") {
    await jobs.restore(archive, both);
    return true;
  }
  const of = { instance_id: "ins_1", restore_id: `op_${random.below(1e9)}` };
  const build = { neutralize: false, backup_first: random.chance(0.5) };
  await jobs.run<"build_restore">({ kind: "build_restore", ...of, archive, ...both, ...build });
  const tampered = random.chance(0.3);
  const may = tampered ? tamperWith(jobs, of.restore_id, random) : true;
  /** Whether it succeeds: always, unless the ERP has tampered with them. */
  const succeeds = (job: Promise<unknown>): Promise<boolean> =>
    job.then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: "HOST_JOB_FAILED" });
        expect(tampered, String(error)).toBe(true);
        return false;
      },
    );
  const swapped = await succeeds(jobs.run<"swap_restore">({ kind: "swap_restore", ...of, ...both }));
  if (may !== undefined) expect(swapped, "whether the restore succeeds").toBe(may);
  if (usage === "a restore" && swapped) await succeeds(jobs.run<"drop_old">({ kind: "drop_old", ...of }));
  else await succeeds(jobs.run<"put_back">({ kind: "put_back", ...of, start: random.chance(0.5) }));
  return !tampered;
}

prove("hosts", async () => {
  if (noMachine !== undefined) return { trial: async ({ counts }) => counts(0) };
  const jobs = await machineWithJobs();
  jobs.machine.standIn("nsenter", ":"); // the ERP's page, asked through the proxy
  return {
    close: () => jobs.machine.stop(),
    points: [...USES.flatMap((usage) => [1, 2, 3].map((i) => `${usage} ${i}`)), PASSWORD],
    trial: async ({ random, point }) => {
      jobs.begin();
      try {
        if (point === PASSWORD) return await expectSecret(jobs, random);
        const usage = USES.find((each) => point.slice(0, -2) === each) ?? expect.fail(`There is no point ${point}`);
        const tree = plant(jobs, random);
        jobs.hostile(":");
        const before = machineIs(jobs);
        const writers = tree.growing.map((name) =>
          spawn("bash", ["-c", 'for i in {1..40}; do printf ggggg >> "$0"; sleep 0.02; done', jobs.store("shop", name)]),
        );
        const { files, bytes, archive } = await jobs.backUp();
        for (const writer of writers) writer.kill();
        expect(Buffer.from(bytes).includes("root's own secret"), "root's file is in the backup").toBe(false);
        const packed = Object.entries(files).flatMap(([name, content]) =>
          name.startsWith("filestore/") && !name.endsWith("/") ? [[name.slice(10), content] as const] : [],
        );
        expectSame(new Map(packed), tree, "the backup");
        jobs.expectUntouched();

        // A restore of the files alone would keep present ones, so it is of both. What is there now is another hostile tree,
        // which the restore has to replace without following it.
        rmSync(jobs.store("shop"), { recursive: true });
        mkdirSync(jobs.store("shop"));
        writeFileSync(jobs.store("shop", "present"), "present");
        const present = plant(jobs, random);
        jobs.hostile(":");
        if (await use(usage, archive, jobs, random)) {
          const expected = usage === "a restore that is put back" ? present : tree;
          expectSame(filesBelow(jobs.store("shop")), expected, "the files afterwards");
          expect(readdirSync(jobs.store()), "folders of files").toEqual(["shop"]);
        }
        jobs.expectUntouched();
        expect(machineIs(jobs), "the machine").toBe(before);
      } finally {
        jobs.end();
      }
    },
  };
});
