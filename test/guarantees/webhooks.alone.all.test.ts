// What becomes of an event on its way to a receiver, whatever is killed; and addresses of every form that a webhook must not lead
// to.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { expect, vi } from "vitest";
import * as z from "zod";
import { findTargetProblem, request } from "../../shared/platform/outbound.ts";
import { WithSecret } from "../../shared/api/webhooks.ts";
import { account } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

/** More calls than either function makes for one event. */
const CALLS = 14;
const KILLS = ["dispatch", "deliver"].flatMap((name) =>
  Array.from({ length: CALLS }, (_, index) => ({ label: `${name} killed at call ${index + 1}`, name, at: index + 1 })),
);

/** A private IPv4 address, and how it is written. */
const ranges = [
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "169.254.0.0/16",
  "100.64.0.0/10",
  "0.0.0.0/8",
  "224.0.0.0/4",
];
const hex = (value: number, digits = 2): string => value.toString(16).padStart(digits, "0");
const FORMS: Readonly<Record<string, (parts: readonly number[]) => string>> = {
  "dotted decimal": (parts) => parts.join("."),
  "dotted octal": (parts) => parts.map((part) => `0${part.toString(8)}`).join("."),
  "dotted hexadecimal": (parts) => parts.map((part) => `0x${hex(part)}`).join("."),
  "one number": (parts) => String(parts.reduce((sum, part) => sum * 256 + part, 0)),
  "two parts": ([first = 0, ...rest]) => `${first}.${rest.reduce((sum, part) => sum * 256 + part, 0)}`,
  "full-width digits": (parts) => parts.join(".").replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  "a final dot": (parts) => `${parts.join(".")}.`,
  "IPv4-mapped": (parts) => `[::ffff:${parts.join(".")}]`,
  "IPv4-compatible": (parts) => `[::${parts.join(".")}]`,
  NAT64: (parts) => `[64:ff9b::${parts.join(".")}]`,
  "6to4": ([a = 0, b = 0, c = 0, d = 0]) => `[2002:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}::1]`,
  Teredo: ([a = 0, b = 0, c = 0, d = 0]) =>
    `[2001:0:4136:e378:8000:63bf:${hex(255 - a)}${hex(255 - b)}:${hex(255 - c)}${hex(255 - d)}]`,
};
const NAMES = ["a name that leads there", "a name that changes after the check"];
const BESIDE = "beside a receiver that never responds";
/** One after the other, so many tries of a receiver that never responds would take 80 s. */
const SILENT_TRIES = 8;
const TRY_MS = 10_000;

function privateAddress(random: Random): number[] {
  const [base = "", bits = ""] = random.oneOf(ranges).split("/");
  const start = base.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const address = start + random.below(2 ** (32 - Number(bits)));
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);
}

const sent = (url: string, resolve: () => Promise<string[]>) =>
  request({ url, headers: {}, body: Buffer.from("{}"), timeoutMs: 2_000, keepBytes: 100 }, { loopback: false, resolve });

async function expectUnreachable(point: string, random: Random): Promise<void> {
  const address = privateAddress(random);
  const form = FORMS[point];
  if (form !== undefined) {
    const url = `https://${form(address)}/hooks`;
    const nowhere = () => Promise.resolve(["93.184.216.34"]);
    expect(await findTargetProblem("url", url, { loopback: false, resolve: nowhere }), url).toMatchObject({
      reason: "must not lead to a private address",
    });
    await expect(sent(url, nowhere), url).rejects.toThrow("must not lead to a private address");
    return;
  }
  const private4 = address.join(".");
  const first = point === NAMES[0] ? [private4, "93.184.216.34"] : ["93.184.216.34"];
  const addresses = random.shuffled(first);
  const problem = await findTargetProblem("url", "https://hooks.example.com/", {
    loopback: false,
    resolve: async () => addresses,
  });
  expect(problem?.reason).toBe(point === NAMES[0] ? "must not lead to a private address" : undefined);
  const later = random.shuffled(["93.184.216.34", private4]);
  await expect(sent("https://hooks.example.com/", async () => later)).rejects.toThrow("leads to a private address");
}

prove("webhooks", async () => {
  const clock = testClock();
  const cloud = await ownCloud({
    clock: clock.shared,
    streams: true,
    schedules: false,
    timeScale: 0.001,
    environment: { LOOPBACK_RECEIVERS: "true" },
  });
  const received: { id: string; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ id: String(request.headers["webhook-id"]), body: Buffer.concat(chunks).toString() });
      response.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const silent = createServer((request) => void request.resume()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const me = await account();
  const subscribe = async (receiver: Server): Promise<string> => {
    const { port } = z.object({ port: z.number() }).parse(receiver.address());
    const hook = { name: `Port ${port}`, url: `http://127.0.0.1:${port}/`, events: ["settings.update"] };
    return (await me.api.post("/webhooks", hook)).as(WithSecret).id;
  };
  await subscribe(server);
  const changes = async () => {
    const { api } = await me.token();
    const page = await api.get("/events?type=settings.update&per_page=100");
    return page.as(z.array(z.object({ id: z.string() }))).map(({ id }) => id);
  };
  let days = 0;
  /** Returns the ID of its event. */
  const change = async (): Promise<string> => {
    const { api } = await me.token();
    days = 1 + (days % 300);
    await api.put("/settings", { backup_retention_days: days });
    const [id = ""] = await changes();
    return id;
  };
  const expectIsolation = async (): Promise<void> => {
    const webhook = await subscribe(silent);
    const began = performance.now();
    const ids: string[] = [];
    for (let each = 0; each < SILENT_TRIES; each++) ids.push(await change());
    const arrived = () => expect(received.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    await vi.waitFor(arrived, { timeout: SILENT_TRIES * TRY_MS, interval: 250 });
    expect(performance.now() - began).toBeLessThan(SILENT_TRIES * TRY_MS);
    expect((await me.api.delete(`/webhooks/${webhook}`)).status).toBe(200);
  };

  return {
    points: [...KILLS.map(({ label }) => label), ...Object.keys(FORMS), ...NAMES, BESIDE],
    close: () => {
      server.close();
      silent.closeAllConnections();
      silent.close();
    },
    trial: async ({ point, random, counts, reached }) => {
      if (point === BESIDE) return expectIsolation();
      const kill = KILLS.find(({ label }) => label === point);
      if (kill === undefined) return expectUnreachable(point, random);
      let callCount = 0;
      const kind = random.oneOf(["lost", "silent"] as const);
      const stop = cloud.aws.inject((call) => {
        if (!call.principal.includes(`-schedules${kill.name}`) || ++callCount !== kill.at) return undefined;
        stop();
        reached(`${kill.name} killed at ${call.action}, ${kind}`);
        void cloud.lambda.kill(call.principal);
        return { kind };
      });
      const id = await change();
      let looks = 0;
      await vi.waitFor(
        async () => {
          // What a killed run has taken is free after a minute; but the clock must not outrun those that are still running.
          if (++looks % 4 === 0) clock.advance(2);
          await cloud.events.fire("dispatch").catch(() => undefined); // it may be the one that is killed
          expect(received.map((each) => each.id)).toContain(id);
        },
        { timeout: 240_000, interval: 250 },
      );
      stop();
      // Nothing but what happened; and what was sent twice was the same twice.
      const changeIds = await changes();
      const recent = received.slice(-50);
      expect(changeIds).toEqual(expect.arrayContaining([...new Set(recent.map((each) => each.id))]));
      for (const each of recent) expect(received.find((other) => other.id === each.id)?.body).toBe(each.body);
      if (callCount < kill.at) counts(0); // the function made fewer calls
    },
  };
});
