// Compromised or broken machines: whatever they return, a job ends with a readable error and the machine is
// released.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import ssh2, { type ServerChannel } from "ssh2";
import * as z from "zod";
import { ServerRecord } from "../../shared/records/schemas/server.ts";
import { newId } from "../../shared/domain/ids.ts";
import type { HostedServer } from "../../shared/hosts/host.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { retireMachine } from "../../shared/hosts/retire.ts";
import { createMachine } from "../../shared/hosts/ssh-script.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { GiveUp, TryAgain } from "../../shared/platform/task-errors.ts";
import { ownAws } from "./cloud.ts";

type Misbehavior = (channel: ServerChannel) => void;
let misbehave: Misbehavior;
/** Whether it responds to a probe, as a machine that is well does. */
let echoes = false;
const hostKey = createKeyPair(randomBytes(32), "machine");
let machine: ServerRecord;

beforeAll(async () => {
  await ownAws();
  const server = new ssh2.Server({ hostKeys: [hostKey.private_key] }, (client) => {
    client.on("error", () => undefined);
    client.on("authentication", (context) => context.accept());
    client.on("session", (accept) =>
      accept().on("exec", (acceptExec, _reject, { command }) => {
        const channel = acceptExec();
        channel.on("error", () => undefined).resume();
        const word = echoes ? /^echo (\S+)$/.exec(command)?.[1] : undefined;
        if (word === undefined) misbehave(channel);
        else prints(`${word}\n`)(channel);
      }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  afterAll(() => void server.close());
  const { port } = z.object({ port: z.number() }).parse(server.address());
  machine = ServerRecord.parse({
    id: newId("server"),
    account_id: newId("account"),
    number: "1",
    name: "erp",
    provider: "hetzner",
    region: "fsn1",
    size: "cx22",
    specs: { cpu: 2, memory_gb: 4, disk_gb: 40 },
    ssh_key_id: newId("ssh_key"),
    state: "deleting",
    status_reason: null,
    operation_id: null,
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
    machine_id: "7",
    ip_address: "127.0.0.1",
    ssh_port: port,
    host_keys: [hostKey.public_key],
  });
});

const prints =
  (text: string, code = 0): Misbehavior =>
  (channel) => {
    channel.write(text, () => {
      channel.exit(code);
      channel.end();
    });
  };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Waits of so many seconds and more are over at once. */
function hurry(seconds: number): void {
  const wait = globalThis.setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, milliseconds = 0) =>
    wait(run, milliseconds >= seconds * 1000 ? 500 : milliseconds),
  );
  onTestFinished(() => void vi.stubGlobal("setTimeout", wait));
}

const MISBEHAVIORS: [string, Misbehavior, RegExp][] = [
  ["prints something else", prints("Welcome!\n"), /does not understand/],
  ["prints nothing", prints(""), /does not understand/],
  ["reports an unknown state", prints("state=party\n"), /does not understand/],
  ["returns invalid JSON", prints(`state=done\nanswer=${base64("{")}\n`), /does not understand/],
  [
    "returns an invalid host key",
    prints(`state=done\nanswer=${base64('{"host_key":"ssh-ed25519 AAAA nonsense"}')}\n`),
    /does not understand/,
  ],
  [
    "fails with a very long message",
    prints(`state=failed\ncode=NONSENSE\nmessage=${base64("x".repeat(500_000))}\n`),
    /HOST_JOB_FAILED: The machine reports: x{100,}/,
  ],
  [
    "fails with a very long log",
    prints(`state=failed\ncode=TIMEOUT\nmessage=\nlog=${base64("x\n".repeat(500_000))}\n`),
    /TIMEOUT: The machine reports:\s+x/,
  ],
  ["ends with an error", prints("", 1), /Could not run the script/],
  ["never has the script, however often it is uploaded", prints("", 127), /Could not run the script/],
  ["sends random bytes", prints(randomBytes(100_000).toString("latin1")), /does not understand/],
  ["sends endless output", talk, /sent too much output/],
  ["hangs up", (channel) => channel.close(), /closed the connection/],
];

function talk(channel: ServerChannel): void {
  while (!channel.destroyed && channel.write("x".repeat(32_768)));
  if (!channel.destroyed) channel.once("drain", () => talk(channel));
}

const run = (): Promise<unknown> =>
  ssh
    .run(machine, { id: "op_1-prepareHost", kind: "prepare_host", ssh_keys: [], ends: ["op_0-x"] })
    .catch((thrown: unknown) => thrown);
const retired = (): Promise<boolean> =>
  retireMachine(machine, { id: "op_2-retireHost", ends: ["op_1-prepareHost"], since: new Date().toISOString() });

test.each(MISBEHAVIORS)(
  "a machine that %s fails its jobs with readable errors, goes offline and is released",
  async (_, misbehavior, words) => {
    misbehave = misbehavior;
    const error = await run();
    expect(error).toSatisfy((thrown) => thrown instanceof GiveUp || thrown instanceof TryAgain);
    expect(String(error)).toMatch(words);
    expect(String(error).length).toBeLessThan(2000);
    expect(await ssh.probe(machine)).toEqual({ responded: false });
    expect(await retired()).toBe(true);
  },
);

test.each<[string, Partial<HostedServer>]>([
  ["another key", { host_keys: [createKeyPair(randomBytes(32), "another").public_key] }],
  ["a key of an unknown type", { host_keys: ["ssh-party AAAA"] }],
  ["nonsense", { host_keys: ["ssh-ed25519 nonsense"] }],
  ["an empty line", { host_keys: [""] }],
  ["none", { host_keys: [] }],
])("a machine whose pinned host key is %s receives nothing and is released", async (_, fields) => {
  let messages = 0;
  misbehave = (channel) => {
    messages += 1;
    prints("state=done\n")(channel);
  };
  expect(await retireMachine({ ...machine, ...fields }, { id: "op_3-retireHost", since: new Date().toISOString() })).toBe(true);
  expect(messages).toBe(0);
});

const REPORT = {
  disk_size_bytes: "2",
  disk_free_bytes: "1",
  memory_free_bytes: "1",
  needs_reboot: "no",
  instances: base64("[]"),
};
const certificate = { instance_id: "ins_1", domain: "shop.example.com", expires_at: 1_800_000_000, failing: false };
const certificates = (...all: unknown[]) => ({ ...REPORT, certificates: base64(JSON.stringify(all)) });
const use = { instance_id: "ins_1", used_bytes: 3, quota_bytes: null, paused: false };
const uses = (...all: unknown[]) => ({ ...REPORT, instances: base64(JSON.stringify(all)) });
const textOf = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");

test.each<[string, Record<string, string>]>([
  ["a negative size", { ...REPORT, disk_free_bytes: "-1" }],
  ["a size that is no number", { ...REPORT, memory_free_bytes: "$(reboot)" }],
  ["more bytes than a disk", { ...REPORT, disk_free_bytes: "9".repeat(400) }],
  ["a reboot that is neither needed nor not", { ...REPORT, needs_reboot: "maybe" }],
  ["only one size", { ...REPORT, memory_free_bytes: "" }],
  ["certificates that are not JSON", { ...REPORT, certificates: base64("[") }],
  ["certificates that are no list", { ...REPORT, certificates: base64("{}") }],
  ["a thousand and one certificates", certificates(...Array.from({ length: 1001 }, () => certificate))],
  ["a thousand and one instances", uses(...Array.from({ length: 1001 }, () => use))],
])("a report with %s does not count", async (_, fields) => {
  const shell = () => Promise.resolve({ code: 0, output: textOf(fields), stderr: "" });
  await expect(createMachine(shell).report(0)).rejects.toBeInstanceOf(z.ZodError);
});

test.each<[string, object]>([
  ["a domain that is none", { domain: "<script>" }],
  ["a domain without end", { domain: "x".repeat(254) }],
  ["an instance that is none", { instance_id: "__proto__/.." }],
  ["a time beyond all years", { expires_at: 1e300 }],
])("a certificate with %s is left out of its report", async (_, odd) => {
  const output = textOf(certificates({ ...certificate, ...odd }, certificate));
  const { report } = await createMachine(() => Promise.resolve({ code: 0, output, stderr: "" })).report(0);
  expect(report.certificates).toEqual([{ ...certificate, expires_at: "2027-01-15T08:00:00.000Z" }]);
});

test.each<[string, object]>([
  ["uses less than nothing", { used_bytes: -1 }],
  ["uses more than any disk has", { used_bytes: 1e300 }],
  ["is neither paused nor not", { paused: "$(reboot)" }],
  ["is the operator's copy of one", { instance_id: "ins_1.bak" }],
])("an instance that %s is left out of its report", async (_, odd) => {
  const output = textOf(uses({ ...use, ...odd }, use));
  const { report } = await createMachine(() => Promise.resolve({ code: 0, output, stderr: "" })).report(0);
  expect(report.uses).toEqual([use]);
});

test.each<[string, unknown]>([
  ["no image", { id: "$(reboot)", created_at: "2026-11-20T03:00:00Z" }],
  ["no object", "sha256:"],
])("a report with an image that is %s counts without it", async (_, image) => {
  const shell = () => Promise.resolve({ code: 0, output: textOf(uses({ ...use, image })), stderr: "" });
  expect((await createMachine(shell).report(0)).report.uses).toEqual([use]);
});

function well(misbehavior: Misbehavior): void {
  [echoes, misbehave] = [true, misbehavior];
  onTestFinished(() => void (echoes = false));
}

test.each(MISBEHAVIORS.filter(([what]) => /something else|ends with|never has|endless|hangs up/.test(what)))(
  "a machine that responds to a probe is well, although in place of its report it %s",
  async (_, misbehavior) => {
    well(misbehavior);
    expect(await ssh.probe(machine)).toEqual({ responded: true });
  },
);

test("a machine that responds to a probe and is then silent is well, and waited for no longer than a report may take", async () => {
  hurry(9);
  well(() => undefined);
  expect(await ssh.probe(machine)).toEqual({ responded: true });
});

test("a report is read as it is", async () => {
  well(prints(textOf(certificates(certificate, { ...certificate, expires_at: null, failing: true }))));
  const { instance_id, domain } = certificate;
  expect((await ssh.probe(machine)).report).toEqual({
    disk_size_bytes: 2,
    disk_free_bytes: 1,
    uses: [],
    memory_free_bytes: 1,
    needs_reboot: false,
    certificates: [
      { instance_id, domain, expires_at: "2027-01-15T08:00:00.000Z", failing: false },
      { instance_id, domain, expires_at: null, failing: true },
    ],
  });
});

// The last test: a wait that nobody awaits any more continues for a moment.
test("a machine that never responds is unreachable and is released", async () => {
  hurry(60);
  misbehave = () => undefined;
  expect(await run()).toMatchObject({ name: "TryAgain", code: "HOST_UNREACHABLE" });
  expect(await retired()).toBe(true);
});
