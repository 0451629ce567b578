// `npm run bench -- --checks`: how many servers one run of the health check reaches. Measures the processor's time that the real
// function takes for each server whose machine says that all is well, and reckons with the share of a processor that is deployed.
// Writes docs/scale.md.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { BEGIN_SECONDS, handler } from "../../functions/schedules/check-servers.ts";
import { ONE_PROCESSOR_MEGABYTES } from "../../infra/function.ts";
import { TIMED } from "../../infra/schedules.ts";
import { tableOf } from "./figures.ts";

const SERVERS = 200;
const ROUNDS = 20;
/** Each tenth server gets a login instead, which takes 5 ms, and one more write, of its report. */
const LOGIN_MS = 5 + 1;
const LOGINS = 0.1;
const WANTED = 20_000;

export async function checks(): Promise<string> {
  const world = spawn(
    process.execPath,
    [...process.execArgv, new URL("checks-world.ts", import.meta.url).pathname, String(SERVERS)],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  try {
    const lines = createInterface(world.stdout)[Symbol.asyncIterator]();
    Object.assign(process.env, JSON.parse(String((await lines.next()).value)));
    await handler(); // the first one compiles, connects and reads the secret
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      world.stdin.write("next\n"); // every machine has a new line
      await lines.next();
      const before = process.cpuUsage();
      await handler();
      const { user, system } = process.cpuUsage(before);
      rounds.push((user + system) / 1000 / SERVERS);
    }
    return describe(Math.min(...rounds));
  } finally {
    world.kill();
  }
}

function describe(plainMs: number): string {
  const { memoryMegabytes, parts } = TIMED["check-servers"];
  const share = memoryMegabytes / ONE_PROCESSOR_MEGABYTES;
  const meanMs = plainMs + LOGINS * LOGIN_MS;
  const reached = Math.floor((parts * BEGIN_SECONDS * share * 1000) / meanMs);
  if (reached < WANTED) process.exitCode = 1;
  return tableOf(
    ["", ""],
    [
      ["a server whose machine says that all is well: its record, its line, the write", `${plainMs.toFixed(2)} ms`],
      ["with a login and a report each ten minutes", `${meanMs.toFixed(2)} ms`],
      ["share of a processor, runs beside each other, seconds", `${share.toFixed(2)}, ${parts}, ${BEGIN_SECONDS}`],
      ["servers that are checked each minute", reached.toLocaleString("en-US")],
    ],
  );
}
