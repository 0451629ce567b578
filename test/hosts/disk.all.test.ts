// The disk of a machine, as a file system in a file that is really filled: what is reserved, what is measured, and who is paused.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { unless } from "../harness/unless.ts";
import { noMachine } from "./machine.ts";

const MB = 1024 ** 2;
const ERP_USER = 101;
const DATABASE_USER = 999;

function noFileSystem(): string | undefined {
  if (noMachine !== undefined) return noMachine;
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  const commands = `truncate -s 16M $0/disk && mkfs.ext4 -q $0/disk && mkdir $0/at && mount -o loop $0/disk $0/at && umount $0/at`;
  const { status } = spawnSync("bash", ["-c", commands, folder]);
  rmSync(folder, { recursive: true });
  return status === 0 ? undefined : "no file system in a file can be mounted here";
}

describe("a disk", unless(noFileSystem()), () => {
  let folder: string;
  const within = (name: string): string => join(folder, name);
  const volume = (id: string): string => within(`disk/docker/volumes/erp-${id}_odoo/_data`);
  const fact = (id: string, name: string): string => within(`root/instances/${id}/${name}`);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "disk-"));
    chmodSync(folder, 0o755); // for other users
    for (const name of ["disk", "root/locks", "bin", "sys"]) mkdirSync(within(name), { recursive: true });
    execFileSync("bash", [
      "-c",
      "truncate -s 400M $0 && mkfs.ext4 -q -m 0 $0 && mount -o loop $0 $1",
      within("image"),
      within("disk"),
    ]);
    mkdirSync(within("disk/docker/containers/c"), { recursive: true });
    for (const id of ["big", "small"]) {
      mkdirSync(volume(id), { recursive: true });
      execFileSync("chown", [String(ERP_USER), volume(id)]);
      mkdirSync(within(`root/instances/${id}`), { recursive: true });
      const facts = { wanted: "running", "database.env": "POSTGRES_USER=postgres\n", db_image: "sha256:image" };
      for (const [name, text] of Object.entries(facts)) writeFileSync(fact(id, name), text);
    }
    writeFileSync(within("script.sh"), hostScript());
    const row = (id: string): string => `echo "erp-${id}|none||${within("disk/docker/containers/c/log")}|${volume(id)}"`;
    writeFileSync(
      within("bin/docker"),
      `#!/bin/bash
      case "$*" in
        info*) echo ${within("disk/docker")} ;;
        "ps -aq"*) echo container ;;
        inspect*GraphDriver*) ${row("big")}; ${row("small")} ;;
        *"entrypoint id"*) echo ${DATABASE_USER} ;;
        pause* | unpause* | exec*) echo "$*" >> ${within("calls")} ;;
      esac`,
    );
    chmodSync(within("bin/docker"), 0o755);
  });
  afterEach(() => {
    execFileSync("umount", ["-l", within("disk")]);
    rmSync(folder, { recursive: true });
  });

  const environment = () => ({
    ...process.env,
    ERP_HOSTING_ROOT: within("root"),
    ERP_HOSTING_SYSTEM: within("sys"),
    PATH: `${within("bin")}:${process.env["PATH"]}:/usr/sbin:/sbin`,
  });
  function script(command: string, input = ""): string {
    const { stdout, stderr, status } = spawnSync("bash", [within("script.sh"), command], {
      encoding: "utf8",
      input,
      env: environment(),
    });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  }
  /** Functions of the script, for the instance `big`. */
  function call(code: string): string {
    const { stdout, stderr, status } = spawnSync(
      "bash",
      ["-c", `source "$0" probe >/dev/null; mkdir -p "$DISK"; load big; ${code}`, within("script.sh")],
      { encoding: "utf8", env: environment() },
    );
    if (status !== 0) throw new Error(stderr || `It ended with ${status}`);
    return stdout;
  }
  const as = (user: number, code: string): number | null =>
    spawnSync("setpriv", ["--reuid", String(user), "--clear-groups", "--bounding-set=-all", "bash", "-c", code], { cwd: folder })
      .status;
  const used = (id: string): number => Number(readFileSync(fact(id, "disk"), "utf8").split(" ")[0]);
  const paused = (): string[] => ["big", "small"].filter((id) => existsSync(fact(id, "paused")));
  const calls = (): string => (existsSync(within("calls")) ? readFileSync(within("calls"), "utf8") : "");
  const available = (): number => {
    const { bavail, bsize } = statfsSync(within("disk"));
    return bavail * bsize;
  };
  const fill = (id: string): void =>
    void as(ERP_USER, `cd ${volume(id)}; cat /dev/zero > zeros; dd if=/dev/zero bs=512 >> zeros; sync -f zeros`);
  /** Measures the disk again, as if a minute had passed. */
  function measure(): void {
    for (const id of ["big", "small"]) if (existsSync(fact(id, "disk"))) rmSync(fact(id, "disk"));
    script("measure_disk");
  }

  test("what an instance uses counts once, without holes and links that lead out of it", () => {
    const files =
      "dd if=/dev/zero of=a bs=1M count=20 && ln a b && ln a c && truncate -s 50G holes && ln -s / root && ln -s . again";
    as(ERP_USER, `cd ${volume("big")} && ${files}`);
    script("measure_disk");
    expect(used("big")).toBeGreaterThanOrEqual(20 * MB);
    expect(used("big")).toBeLessThan(21 * MB);
    expect(used("small")).toBeLessThan(MB);
  });

  test("a file that is deleted and still open counts, once, however often it is open", async () => {
    const code = `exec 5> ${volume("big")}/x; dd if=/dev/zero bs=1M count=20 >&5 2> /dev/null; rm ${volume("big")}/x; exec 6>&5; echo ready; read -r`;
    const holder = spawn("bash", ["-c", code], { stdio: ["pipe", "pipe", "inherit"] });
    await once(holder.stdout, "data");
    const blocks = call(`blocks_of_deleted 5 ${volume("big")} /proc/${holder.pid}/fd /proc/${holder.pid}/map_files`);
    holder.stdin.end("\n");
    await once(holder, "exit");
    expect(blocks).toMatch(/^\d+ 1\n$/);
    expect(Number(blocks.split(" ")[0]) * 512).toBeGreaterThanOrEqual(20 * MB);
  });

  test("a tree that cannot be measured in time takes no longer, and counts as what it was at least", () => {
    as(ERP_USER, `dd if=/dev/zero of=${volume("big")}/a bs=1M count=20`);
    script("measure_disk");
    writeFileSync(within("bin/find"), "#!/bin/bash\necho 8 1\nexec sleep 60\n", { mode: 0o755 });
    const began = Date.now();
    call("measure_instance big 1 fd");
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(used("big")).toBeGreaterThanOrEqual(20 * MB);
  });

  test("an instance whose measurement takes long is not measured each minute", () => {
    const now = Math.floor(Date.now() / 1000);
    const isDue = (seconds: number, took: number): boolean => {
      writeFileSync(fact("big", "disk"), `1 ${now - seconds} ${took} 0\n`);
      return call("if is_due big; then echo due; fi") === "due\n";
    };
    expect([isDue(60, 100), isDue(60, 10_000), isDue(300, 10_000)]).toEqual([true, false, true]);
  });

  test("a tenant who fills the disk is paused, another one is not and can write again, and it goes on when its quota is raised", () => {
    measure();
    expect(existsSync(within("disk/docker/erp-hosting-spare"))).toBe(true);
    script("settings", `big ${50 * MB}\nsmall ${50 * MB}\nEND\n`);
    fill("big");
    expect(as(ERP_USER, `echo text > ${volume("small")}/text`)).not.toBe(0);
    script("watch_disk");
    expect(paused()).toEqual(["big"]);
    expect(calls()).toContain("pause erp-big\n");
    expect(calls()).toContain("pg_terminate_backend");
    expect(as(ERP_USER, `dd if=/dev/zero of=${volume("small")}/text bs=1M count=2`)).toBe(0);
    const reported = JSON.parse(
      Buffer.from(/^instances=(.*)$/m.exec(script("report"))?.[1] ?? "", "base64").toString(),
    ) as unknown;
    expect(reported).toMatchObject([
      { instance_id: "big", used_bytes: expect.any(Number), quota_bytes: 50 * MB, paused: true },
      { instance_id: "small", quota_bytes: 50 * MB, paused: false },
    ]);
    script("watch_disk");
    expect(paused()).toEqual(["big"]);
    script("settings", `small ${50 * MB}\nEND\n`);
    expect(paused()).toEqual([]);
    expect(calls()).toContain("unpause erp-big\n");
  });

  test("after a restart of the machine, which starts all ERPs, the disk is judged anew", () => {
    measure();
    script("settings", `big ${50 * MB}\nEND\n`);
    fill("big");
    script("watch_disk");
    utimesSync(fact("big", "paused"), 1, 1);
    script("watch_disk");
    expect(paused()).toEqual([]);
    script("watch_disk");
    expect(paused()).toEqual(["big"]);
  });

  test("it goes on by itself once there is room, and what was given to the others is taken back", () => {
    measure();
    script("settings", `big ${50 * MB}\nEND\n`);
    fill("big");
    script("watch_disk");
    expect(existsSync(within("disk/docker/erp-hosting-spare"))).toBe(false);
    rmSync(join(volume("big"), "zeros"));
    script("watch_disk");
    expect(paused()).toEqual([]);
    measure();
    expect(existsSync(within("disk/docker/erp-hosting-spare"))).toBe(true);
  });

  test("an instance without a quota is not paused while its server's reserve is untouched", () => {
    call("reserve_blocks");
    const database = join(volume("big"), "database");
    mkdirSync(database);
    execFileSync("chown", [String(DATABASE_USER), database]);
    measure();
    fill("big");
    script("watch_disk");
    expect(paused()).toEqual([]);
    // Only databases can take what is reserved. Whoever makes them do so is paused, quota or not.
    as(DATABASE_USER, `cat /dev/zero > ${database}/zeros; sync -f ${database}/zeros`);
    script("watch_disk");
    expect(paused()).toEqual(["big"]);
  });

  test("the last blocks are for databases and the machine itself, also after it has started again", () => {
    call("reserve_blocks");
    call("reserve_blocks");
    mkdirSync(within("disk/database"));
    execFileSync("chown", [String(DATABASE_USER), within("disk/database")]);
    fill("big");
    expect(available()).toBe(0);
    expect(as(ERP_USER, `echo text > ${volume("big")}/text`)).not.toBe(0);
    expect(as(DATABASE_USER, "dd if=/dev/zero of=disk/database/file bs=1M count=8")).toBe(0);
    execFileSync("bash", ["-c", "umount $0 && mount -o loop $1 $0", within("disk"), within("image")]);
    expect(as(DATABASE_USER, "echo more >> disk/database/file; sync disk/database/file")).toBe(0);
    // A backup's archive: whoever may use the reserve allocates it, and a container without privileges fills it.
    expect(as(DATABASE_USER, "fallocate -l 4M disk/database/archive && chmod 666 disk/database/archive")).toBe(0);
    expect(
      as(ERP_USER, "dd if=/dev/urandom of=disk/database/archive bs=1M count=4 conv=notrunc && sync disk/database/archive"),
    ).toBe(0);
  });

  test("a reserve that the machine's administrator has given to another user stays as it is", () => {
    const device = execFileSync("findmnt", ["-nro", "SOURCE", within("disk")], { encoding: "utf8" }).trim();
    execFileSync("tune2fs", ["-u", "1234", device]);
    call("reserve_blocks");
    expect(execFileSync("tune2fs", ["-l", device], { encoding: "utf8" })).toMatch(/Reserved blocks uid: +1234/);
  });

  /**
   * The kernels here have no project quotas: what these programs are told is recorded. As kernels do, `chattr` lets only folders
   * pass on a project.
   */
  test("where the file system has project quotas, all that an instance has belongs to its project, with its quota as the limit", () => {
    const program = (name: string, code: string): void =>
      writeFileSync(within(`bin/${name}`), `#!/bin/bash\n${code}\n`, { mode: 0o755 });
    program("findmnt", `case $* in *OPTIONS*) echo rw,relatime,prjquota ;; *TARGET*) echo ${within("disk")} ;; esac`);
    program("setquota", `echo "setquota $*" >> ${within("calls")}`);
    program(
      "chattr",
      `project=$2; shift 2; passes=no; if [[ $1 == +P ]]; then passes=yes; shift; fi
       for path in "$@"; do
         if [[ $passes == yes && ! -d $path ]]; then exit 1; fi
         echo "$project $passes $path" >> ${within("given")}
       done`,
    );
    const database = within("disk/docker/volumes/erp-big_db/_data");
    mkdirSync(join(database, "base/1"), { recursive: true });
    writeFileSync(join(database, "base/1/2"), "");
    as(
      ERP_USER,
      `cd ${volume("big")} && mkdir -p filestore/ab && echo a > filestore/ab/file && mkfifo pipe && ln -s /etc/passwd link`,
    );
    const inspect = `case "$*" in "volume inspect"*_odoo) echo ${volume("big")} ;; "volume inspect"*_db) echo ${database} ;; info*) echo ${within("disk/docker")} ;; esac`;
    program("docker", inspect);

    script("settings", `big ${50 * MB}\nEND\n`);
    call("hold_quota");
    const paths = readFileSync(within("given"), "utf8").trimEnd().split("\n").toSorted();
    const passing = [
      volume("big"),
      `${volume("big")}/filestore`,
      `${volume("big")}/filestore/ab`,
      database,
      `${database}/base`,
      `${database}/base/1`,
    ];
    expect(paths).toEqual(
      [
        ...passing.map((path) => `1000001 yes ${path}`),
        `1000001 no ${volume("big")}/filestore/ab/file`,
        `1000001 no ${database}/base/1/2`,
      ].toSorted(),
    );
    const limits = (): string[] =>
      calls()
        .split("\n")
        .filter((line) => line.startsWith("setquota"));
    const limit = (bytes: number): string =>
      `setquota -P 1000001 0 ${bytes / 1024} 0 ${bytes === 0 ? 0 : 50_000} ${within("disk")}`;
    expect(limits()).toEqual([limit(50 * MB)]);
    script("settings", `big ${70 * MB}\nEND\n`);
    script("settings", "END\n");
    expect(limits()).toEqual([limit(50 * MB), limit(70 * MB), limit(0)]);
    call("forget_project big; load small; project_number >&2; [[ $(project_number) == 1000002 ]]");
    expect(limits()).toHaveLength(4);
  });

  /** What the disk says that it has of inodes. */
  const withInodes = (inodes: number, free: number, blocks = 90_000): void =>
    writeFileSync(
      within("bin/stat"),
      `#!/bin/bash\nif [[ $1 == -f ]]; then echo "4096 100000 ${blocks} ${blocks} ${inodes} ${free}"; else exec /usr/bin/stat "$@"; fi\n`,
      { mode: 0o755 },
    );

  test("the one with most inodes over its share is paused when those run out, until there are more", () => {
    script("settings", `big ${900 * MB}\nsmall ${90 * MB}\nEND\n`);
    as(ERP_USER, `cd ${volume("big")} && seq 300 | xargs touch && ln 1 again`);
    measure();
    const [counted] = readFileSync(fact("big", "inodes"), "utf8").split(" ");
    expect(Number(counted)).toBeGreaterThanOrEqual(300);
    expect(Number(counted)).toBeLessThan(310);
    // It would take minutes to create so many.
    const code = `measure_all_at_once() { echo "120000 - - 0" >"$INSTANCES/big/inodes"; echo "60000 - - 0" >"$INSTANCES/small/inodes"; }; watch_disk`;
    withInodes(200_000, 12_000);
    call(code);
    expect(paused()).toEqual([]);
    withInodes(200_000, 8000);
    call(code);
    expect(paused()).toEqual(["small"]);
    withInodes(0, 0);
    call(code);
    expect(paused()).toEqual([]);
  });

  test("without a quota, the one that created most is paused when there are hardly any inodes", () => {
    const code = `measure_all_at_once() { echo "90000 - - 20000" >"$INSTANCES/big/inodes"; echo "99000 - - 98900" >"$INSTANCES/small/inodes"; }; watch_disk`;
    measure();
    withInodes(200_000, 3000);
    call(code);
    expect(paused()).toEqual(["big"]);
  });

  test.each([
    ["the one over its quota of bytes, if there is one", 60, "big"],
    ["else the one over its share of inodes", 40, "small"],
  ])("while both are missing, %s is paused", (_, bigMb, expected) => {
    script("settings", `big ${50 * MB}\nsmall ${90 * MB}\nEND\n`);
    const code = `measure_all_at_once() { echo "${bigMb * MB} - - 0" >"$INSTANCES/big/disk"; echo "120000 - - 0" >"$INSTANCES/small/inodes"; }; watch_disk`;
    measure();
    withInodes(200_000, 8000, 4000);
    call(code);
    expect(paused()).toEqual([expected]);
  });

  test("what a server reports as free is what its inodes leave", () => {
    const df = (inodes: string): string => {
      writeFileSync(within("bin/df"), `#!/bin/bash\necho size; echo "1000000 ${inodes}"\n`, { mode: 0o755 });
      return call("free_of_disk 400000 /").trim();
    };
    expect([df("1000 500"), df("1000 20"), df("0 0")]).toEqual(["400000", "20000", "400000"]);
  });

  test("a job that finds no inode is explained", () => {
    mkdirSync(within("job/work"), { recursive: true });
    writeFileSync(within("job/log"), "cp: cannot create regular file 'x': No space left on device\n");
    writeFileSync(within("bin/df"), '#!/bin/bash\necho "itotal iavail"; echo "1000 3"\n', { mode: 0o755 });
    expect(call(`JOB=${within("job")}; full_disk`)).toContain("has no inodes left");
  });

  test("an ERP starts although the kernel cannot be told its quota", () => {
    const code = `SYSTEM=''; JOB=$HERE; hold_quota() { broken "The program is missing"; }; reserve_blocks() { false; }
      watch_disk_regularly() { :; }; prepare_disk; echo started; [[ ! -e $JOB/failure ]] && echo "no failure"`;
    expect(call(code)).toContain("started\nno failure\n");
  });

  test("timers run a small program of the same functions", () => {
    call("watch_disk_regularly");
    const run = (command: string) =>
      spawnSync("bash", [within("root/disk/watch.sh"), command], { encoding: "utf8", env: { PATH: environment().PATH } });
    expect(run("measure")).toMatchObject({ status: 0, stderr: "" });
    expect(used("big")).toBeGreaterThan(0);
    script("settings", `big ${50 * MB}\nEND\n`);
    fill("big");
    expect(run("watch")).toMatchObject({ status: 0, stderr: "" });
    expect(paused()).toEqual(["big"]);
  });

  test.each([
    ["cp: error writing 'x': No space left on device", "The server's disk is full"],
    ['ERROR:  could not extend file "base/1/2": No space left on device', "The server's disk is full"],
    ["OSError: [Errno 28] No space left on device", "The server's disk is full"],
    ["write /var/lib/docker/tmp/x: no space left on device", "The server's disk is full"],
    ["E: You don't have enough free space in /var/cache/apt/archives/.", "The server's disk is full"],
    ["curl: (23) Failure writing output to destination", "The server's disk is full"],
    ["OSError: [Errno 122] Disk quota exceeded", "The ERP has used up its disk quota"],
    ["could not resize shared memory segment: No space left on device", ""],
    ["permission denied", ""],
  ])("a job whose programs say %j is explained: %j", (line, words) => {
    mkdirSync(within("job/work"), { recursive: true });
    writeFileSync(within("job/log"), `before\n${line}\n`);
    expect(
      call(`JOB=${within("job")}; full_disk`)
        .split(".")[0]
        ?.trim(),
    ).toBe(words);
  });
});
