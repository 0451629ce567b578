// `npm run test:erp`: the live environment with real parts on this machine: sshd, Docker, PostgreSQL, Odoo, Caddy. Needs root.
import { chain } from "./chain.ts";
import { missing, startMachine } from "./machine.ts";
import { startService } from "./service.ts";

const stops: (() => Promise<void>)[] = [];
let stopping: Promise<void> | undefined;

/** Last started, first stopped; what cannot be stopped does not keep the rest from it. */
const stopAll = (): Promise<void> =>
  (stopping ??= (async () => {
    for (const stop of stops.toReversed()) await stop().catch((error: unknown) => console.error(error));
  })());

function interrupt(): void {
  console.log("\nInterrupted: everything is stopped …");
  void stopAll().finally(() => process.exit(1));
}

async function main(): Promise<void> {
  const why = await missing();
  if (why !== undefined) {
    console.error(`This test cannot run here. ${why}`);
    process.exitCode = 1;
    return;
  }
  const began = performance.now();
  try {
    console.log("Starting the machine; the first time its images are built, which takes some minutes …");
    const machine = await startMachine();
    stops.push(machine.stop);
    const service = await startService(machine);
    stops.push(service.stop);
    console.log(`Ready after ${seconds(began)} s\n`);
    const { passed, failed } = await chain(machine, service);
    console.log(`\n${seconds(began)} s\n${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  } finally {
    await stopAll();
  }
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(0);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, interrupt);
process.on("disconnect", interrupt);

await main();
// The channel to whoever started this would keep the process alive.
process.removeListener("disconnect", interrupt);
if (process.connected) process.disconnect();
