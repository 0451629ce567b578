// The service on one machine, its database, or both are killed at random moments under load. What was confirmed before the kill
// is there after the next start.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject } from "vitest";
import * as z from "zod";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { isOpen, OPERATION_STATUSES } from "../../shared/domain/lifecycle.ts";
import { newPublicKey } from "../harness/account.ts";
import { unique } from "../harness/unique.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const Facts = z.object({ apiUrl: z.string(), environment: z.record(z.string(), z.string()) });
type Facts = z.infer<typeof Facts>;
const Pid = z.looseObject({ pid: z.number() });
/** An error has no data. */
const Envelope = z.looseObject({ success: z.boolean(), data: z.unknown().optional() });
const Named = z.looseObject({ id: z.string(), operation_id: z.string().nullish() });
const Operation = z.looseObject({ status: z.enum(OPERATION_STATUSES) });

const VICTIMS = ["the service", "the database", "both"] as const;
/** Kills between two starts with an empty folder: data of several lives must survive. */
const LIVES = 5;
const CLIENTS = 4;

interface Started extends Facts {
  child: ChildProcess;
}

async function start(outDir: string, dataDir: string): Promise<Started> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "durable-service.ts"), outDir, dataDir], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(() => Promise.reject(new Error("The service did not start again"))),
  ]);
  return { child, ...Facts.parse(JSON.parse(String(line))) };
}

/** Creates the account in a process of its own, because the data functions read their environment once. */
async function newAccount({ environment, apiUrl }: Facts): Promise<Owner> {
  const script = join(import.meta.dirname, "durable-account.ts");
  const child = spawn(process.execPath, [script, apiUrl], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  return Owner.parse(JSON.parse(String(line)));
}
const Owner = z.object({ tokens: z.array(z.string()), key: z.string() });
type Owner = z.infer<typeof Owner>;

/** Everything that the service has confirmed, to be found again. */
interface Confirmed {
  keys: Set<string>;
  removed: Set<string>;
  operations: Set<string>;
  servers: Set<string>;
}

/** Fewer than a token may make in a minute. */
const REQUESTS_PER_TOKEN = 12;

interface Reply {
  status: number;
  data: unknown;
}
/** Undefined without a response. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Reply | undefined>;

function askerOf({ apiUrl }: Facts, { tokens }: Owner): Ask {
  let token = tokens.shift();
  let requestCount = 0;
  return async (method, path, body) => {
    if (++requestCount % REQUESTS_PER_TOKEN === 0) token = tokens.shift();
    if (token === undefined) throw new Error("The account has too few tokens");
    try {
      const response = await fetch(`${apiUrl}${BASE_PATH}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(25_000),
      });
      return { status: response.status, data: Envelope.parse(await response.json()).data };
    } catch {
      return undefined;
    }
  };
}

async function work(ask: Ask, sshKeyId: string, confirmed: Confirmed, random: Random): Promise<void> {
  for (let step = 0; step < 4; step++) {
    const [oldest] = confirmed.keys;
    if (oldest !== undefined && random.chance(0.4)) {
      // Without a response, the key may be removed or not.
      confirmed.keys.delete(oldest);
      if ((await ask("DELETE", `/ssh-keys/${oldest}`))?.status === 200) confirmed.removed.add(oldest);
    } else if (random.chance(0.6)) {
      const reply = await ask("POST", "/ssh-keys", { name: unique("key"), public_key: newPublicKey() });
      if (reply?.status === 201) confirmed.keys.add(Named.parse(reply.data).id);
    } else {
      const body = { name: unique("server"), provider: "sandbox", region: "eu-central", size: "small", ssh_key_id: sshKeyId };
      const reply = await ask("POST", "/servers", body);
      if (reply?.status !== 201) continue;
      const { id, operation_id } = Named.parse(reply.data);
      confirmed.servers.add(id);
      confirmed.operations.add(operation_id ?? "");
    }
  }
}

prove("durability", async () => {
  let dataDir = "";
  let lives = 0;
  let account: Awaited<ReturnType<typeof newAccount>> | undefined;
  let confirmed: Confirmed | undefined;
  let started: Started | undefined;
  const folders: string[] = [];

  async function kill(victim: (typeof VICTIMS)[number], { child }: Started): Promise<void> {
    const java = Pid.parse(JSON.parse(readFileSync(join(dataDir, "dynamodb", "dynamodb.pid"), "utf8"))).pid;
    const exited = once(child, "exit");
    if (victim !== "the service") process.kill(java, "SIGKILL");
    if (victim !== "the database") child.kill("SIGKILL");
    await exited;
  }

  async function expectAll(ask: Ask, { keys, removed, operations, servers }: Confirmed): Promise<void> {
    for (const id of keys) expect((await ask("GET", `/ssh-keys/${id}`))?.status, `a key that was created: ${id}`).toBe(200);
    for (const id of removed) expect((await ask("GET", `/ssh-keys/${id}`))?.status, `a key that was deleted: ${id}`).toBe(404);
    for (const id of servers) expect((await ask("GET", `/servers/${id}`))?.status, `a server that was created: ${id}`).toBe(200);
    for (const id of operations) {
      // Ends, because executions continue at the next start.
      const waited = await ask("GET", `/operations/${id}?wait=20`);
      expect(waited?.status, `an operation that was begun: ${id}`).toBe(200);
      expect(isOpen(Operation.parse(waited?.data).status), `${id} has not ended`).toBe(false);
    }
  }

  return {
    points: VICTIMS,
    trial: async ({ point, random }) => {
      const victim = VICTIMS.find((each) => each === point) ?? "both";
      if (lives++ % LIVES === 0 || account === undefined || confirmed === undefined) {
        if (started !== undefined) await kill("both", started);
        dataDir = mkdtempSync(join(tmpdir(), "durable-"));
        folders.push(dataDir);
        started = await start(inject("outDir"), dataDir);
        account = await newAccount(started);
        confirmed = { keys: new Set(), removed: new Set(), operations: new Set(), servers: new Set() };
      }
      started ??= await start(inject("outDir"), dataDir);
      const [owner, record, running] = [account, confirmed, started];
      const clients = Array.from({ length: CLIENTS }, () => work(askerOf(running, owner), owner.key, record, random));
      await sleep(random.below(2_000));
      await kill(victim, running);
      await Promise.all(clients);
      started = undefined;
      started = await start(inject("outDir"), dataDir);
      await expectAll(askerOf(started, owner), record);
    },
    close: async () => {
      if (started !== undefined) await kill("both", started);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
});
