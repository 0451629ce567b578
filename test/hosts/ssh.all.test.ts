// Jobs on a machine over SSH: a real SSH server and the script's real job control; in a job runs `docker`, a stand-in.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import type { HostedServer, Job } from "../../shared/hosts/host.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { connected } from "../../shared/hosts/ssh-connection.ts";
import { createMachine } from "../../shared/hosts/ssh-script.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, processesWith, signal, startMachine, type TestMachine, until } from "./machine.ts";

describe("a machine over SSH", unless(noMachine), () => {
  let machine: TestMachine;
  let server: HostedServer;
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    server = machine.server;
    machine.install("ins_1", {});
  });
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
  });
  afterAll(() => machine.stop());

  let jobs = 0;
  const startErp = (): Job<"start_erp"> => ({ id: `op_${(jobs += 1)}-startErp`, kind: "start_erp", instance_id: "ins_1" });
  /** What Docker does when the ERP is started. */
  const atStart = (work: string): void => machine.docker(`case "$*" in *"up -V -d") ${work} ;; esac`);
  /** The start takes until there is a note `go`, and is recorded. */
  const slowDocker = (): void => atStart("echo $$ >> $NOTES/calls; until [ -e $NOTES/go ]; do sleep 0.05; done");
  const calls = (): string[] => noteOf("calls").split("\n").filter(Boolean);
  const noteOf = (name: string): string => {
    const path = join(machine.notes, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  const note = (name: string): void => writeFileSync(join(machine.notes, name), "");
  const ready = async (job: Job): Promise<boolean> => (await ssh.run(server, job)).ready;
  const readyInTime = (job: Job): Promise<void> => until(`${job.id} is ready`, () => ready(job));
  /** The processes of the jobs and their children. */
  const processes = (): number[] => processesWith(`ERP_HOSTING_ROOT=${machine.root}`);

  test("a machine responds to a probe", async () => {
    expect((await ssh.probe(server)).responded).toBe(true);
    expect(await ssh.probe({ ...server, ssh_port: 1 })).toEqual({ responded: false });
  });

  test("a machine sends the greeting of an SSH server, and nothing else counts as one", async () => {
    expect(await ssh.greets(server)).toBe(true);
    expect(await ssh.greets({ ...server, ssh_port: 1 })).toBe(false);
    expect(await ssh.greets({ ...server, ip_address: null })).toBe(false);
    for (const greeting of ["HTTP/1.1 400 Bad Request\r\n", "SSH"]) {
      const other = createServer((socket) => socket.end(greeting)).listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = z.object({ port: z.number() }).parse(other.address());
      expect(await ssh.greets({ ...server, ssh_port: port }), greeting).toBe(false);
      other.close();
    }
  });

  test("packets are sent at once, not collected until the last one is acknowledged", async () => {
    const other = createServer((socket) => socket.end("no SSH server")).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = z.object({ port: z.number() }).parse(other.address());
    const setNoDelay = vi.spyOn(Socket.prototype, "setNoDelay");
    await ssh.probe({ ...server, ssh_port: port });
    expect(setNoDelay.mock.calls).toEqual([[true]]);
    setNoDelay.mockRestore();
    other.close();
  });

  /** Five seconds, on a machine that may be busy. Without a limit it would be never. */
  const SOON_MS = 30_000;

  test("a machine that accepts a connection and sends nothing times out soon", async () => {
    const mute = createServer().listen(0, "127.0.0.1");
    await once(mute, "listening");
    const { port } = z.object({ port: z.number() }).parse(mute.address());
    const began = performance.now();
    expect(await ssh.probe({ ...server, ssh_port: port })).toEqual({ responded: false });
    expect(performance.now() - began).toBeLessThan(SOON_MS);
    mute.close();
  });

  test("a job starts once, however often it is requested, and reports when it is done", async () => {
    slowDocker();
    const job = startErp();
    for (let count = 0; count < 4; count += 1) expect(await ready(job)).toBe(false);
    note("go");
    await readyInTime(job);
    expect(await ssh.run(server, job)).toEqual({ ready: true, result: null });
    expect(calls()).toHaveLength(1);
  });

  test("two concurrent requests start one job", async () => {
    slowDocker();
    const job = startErp();
    await Promise.all([ready(job), ready(job), ready(job)]);
    note("go");
    await readyInTime(job);
    expect(calls()).toHaveLength(1);
  });

  test("a job continues when the connection breaks", async () => {
    slowDocker();
    const job = startErp();
    await ready(job);
    const asking = connected(server, (shell) => shell("touch $NOTES/asked; sleep 600"));
    await until("the command runs", () => existsSync(join(machine.notes, "asked")));
    machine.cut();
    await expect(asking).rejects.toMatchObject({ name: "TryAgain", code: "HOST_UNREACHABLE" });
    note("go");
    await readyInTime(job);
  });

  test("a job that died starts again, as when the machine restarts", async () => {
    slowDocker();
    const job = startErp();
    await ready(job);
    await until("docker runs", () => calls().length === 1);
    for (const pid of processes()) signal(pid, "SIGKILL");
    await until("the job is begun again", async () => !(await ready(job)) && calls().length === 2);
    note("go");
    await readyInTime(job);
    expect(calls()).toHaveLength(2);
  });

  test("an undo ends the job that it takes back, with all its processes, before it begins", async () => {
    machine.docker("echo $$ >> $NOTES/calls; sleep 600 & sleep 600");
    const job = startErp();
    await ready(job);
    await until("docker runs", () => calls().length === 1);
    atStart("echo again >> $NOTES/calls");
    const back = { ...startErp(), ends: [job.id, "op_late-startErp"] };
    await readyInTime(back);
    expect(calls().at(-1)).toBe("again");
    await until("no process is left", () => processes().length === 0);
    await expect(ssh.run(server, job)).rejects.toMatchObject({ name: "GiveUp" });
    // A late request of an abandoned execution starts nothing any more.
    await expect(ssh.run(server, { ...job, id: "op_late-startErp" })).rejects.toMatchObject({ name: "GiveUp" });
    expect(calls().filter((call) => call === "again")).toHaveLength(1);
  });

  test("a failed job reports the last lines of its log, without passwords or signatures", async () => {
    const password = "correct horse battery staple";
    machine.docker(
      `for i in $(seq 500); do echo "line $i of a long log"; done
       echo "${password}"; echo "GET https://s3.example.com/backups/x.zip?X-Amz-Signature=abcdef"; exit 1`,
    );
    const job: Job<"personalize"> = {
      id: "op_secret-personalize",
      kind: "personalize",
      instance_id: "ins_1",
      domain: "shop.example.com",
      admin_email: "a@example.com",
      admin_password: password,
      reset_users: false,
      keep_uuid: false,
    };
    const failure = async (): Promise<Error> => {
      for (;;) {
        const error = await ssh.run(server, job).catch((thrown: unknown) => thrown);
        if (error instanceof Error) return error;
      }
    };
    const { name, message } = await failure();
    expect(name).toBe("GiveUp");
    expect(message).toMatch(/^HOST_JOB_FAILED: The /);
    expect(message).toContain("line 500 of a long log");
    expect(message).toContain("https://s3.example.com/backups/x.zip?[redacted]");
    expect(message).not.toContain(password);
    expect(message).not.toContain("abcdef");
    expect(message.length).toBeLessThan(1200);
  });

  test("a job that takes too long is killed and says so", async () => {
    slowDocker();
    const status = await connected(server, async (shell) => {
      const { begin, status: ask } = createMachine(shell);
      await begin({ id: "op_long-startErp", kind: "start_erp", minutes: 1 / 60 }, { INSTANCE_ID: "ins_1" });
      await until("the job has ended", async () => (await ask("op_long-startErp")).state !== "running");
      return ask("op_long-startErp");
    });
    expect(status).toMatchObject({ state: "failed", code: "TIMEOUT" });
    await until("no process is left", () => processes().length === 0);
  });

  test("a password is in no list of processes, and in no file once the job has ended", async () => {
    machine.docker("ps axww -o args >> $NOTES/processes; env >> $NOTES/processes");
    const password = randomBytes(12).toString("hex");
    const job: Job<"personalize"> = {
      id: "op_quiet-personalize",
      kind: "personalize",
      instance_id: "ins_1",
      domain: "shop.example.com",
      admin_email: "a@example.com",
      admin_password: password,
      reset_users: false,
      keep_uuid: false,
    };
    await readyInTime(job).catch(() => undefined);
    expect(noteOf("processes")).toContain("bash");
    expect(noteOf("processes")).not.toContain(password);
    const files = readdirSync(machine.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.filter((file) => readFileSync(file, "utf8").includes(password))).toEqual([]);
    expect(files.filter((file) => (statSync(file).mode & 0o077) !== 0)).toEqual([]);
  });

  test("truncated parameters start no job", async () => {
    const { root } = machine;
    await connected(server, async (shell) => {
      const [script = ""] = readdirSync(root).filter((name) => name.startsWith("script-"));
      const result = await shell(`bash ${root}/${script} begin op_cut-startErp start_erp 60`, "INSTANCE_ID=aW5z\nSTA");
      expect(result.code).not.toBe(0);
      expect(await createMachine(shell).status("op_cut-startErp")).toEqual({ state: "unknown" });
    });
  });

  test("health is checked anew each time", async () => {
    const health: Job = { id: "op_1-awaitHealthy", kind: "check_health", instance_id: "ins_1" };
    expect(await ssh.run(server, health)).toEqual({
      ready: false,
      reason: { code: expect.stringMatching(/^(database_server_not_running|erp_silent)$/), parameters: {} }, // by what ran before
    });
  });

  describe("the script", () => {
    const scripts = () => readdirSync(machine.root).filter((name) => name.startsWith("script-"));

    test("the script is uploaded once and is readable by root only", async () => {
      const [name = ""] = scripts();
      const before = statSync(join(machine.root, name));
      await ready(startErp());
      note("go");
      const after = statSync(join(machine.root, name));
      expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
      expect(after.mode & 0o077).toBe(0);
      expect(scripts()).toEqual([name]);
    });

    test("the script is not used if the connection broke during the upload", async () => {
      slowDocker();
      note("go");
      for (const name of scripts()) rmSync(join(machine.root, name));
      const job = startErp();
      machine.disturb("cut", 4_500);
      await expect(ssh.run(server, job)).rejects.toMatchObject({ code: "HOST_UNREACHABLE" });
      await readyInTime(job);
      expect(scripts().filter((name) => name.endsWith(".sh"))).toHaveLength(1);
    });
  });

  describe("host keys", () => {
    const strange = createKeyPair(randomBytes(32), "strange").public_key;

    test("a machine whose host key is not the pinned one receives nothing", async () => {
      const before = machine.log().match(/Accepted|Failed|Postponed/g)?.length;
      const other = { ...server, host_keys: [strange] };
      await expect(ssh.run(other, startErp())).rejects.toMatchObject({
        name: "TryAgain",
        code: "HOST_UNREACHABLE",
        message: expect.stringContaining("presented an unknown host key (SHA256:"),
      });
      expect(await ssh.probe(other)).toEqual({ responded: false });
      expect(machine.log().match(/Accepted|Failed|Postponed/g)?.length).toBe(before); // not even our key
    });

    test("either of two host keys is accepted while one replaces the other", async () => {
      expect((await ssh.probe({ ...server, host_keys: [strange, machine.hostKey] })).responded).toBe(true);
      expect((await ssh.probe({ ...server, host_keys: [machine.hostKey, strange] })).responded).toBe(true);
    });

    test("without a pinned host key no connection is made", async () => {
      await expect(ssh.probe({ ...server, host_keys: [] })).rejects.toMatchObject({ name: "GiveUp" });
    });
  });
});
