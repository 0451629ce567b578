// The complete local runner when it fails half-way, or is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test, vi } from "vitest";
import { clouds } from "./fixture/clouds.ts";

const { outDir, start } = clouds();

test("a start that fails half-way leaves nothing behind", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "data-"));
  const takenPort = Number(new URL((await start()).apiUrl).port);
  await expect(start({ dataDir, port: takenPort })).rejects.toThrow(`Port ${takenPort} is taken`);
  expect(existsSync(join(dataDir, "lock"))).toBe(false);
  await expect(start({ dataDir, stack: "Nobody" })).rejects.toThrow("synthesize the app first");
  await start({ dataDir });
});

test("an execution that a kill interrupted is started again, and its end is published", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "data-"));
  const child = spawn(process.execPath, [join(import.meta.dirname, "fixture/run.ts"), outDir, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  expect(JSON.parse(line).pid).toBe(child.pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  const cloud = await start({ dataDir });
  const [survivor] = cloud.states.executions();
  expect(survivor).toMatchObject({ name: "survivor", status: "RUNNING" });
  const startedAt = survivor?.startDate;
  await cloud.states.settled();
  expect(cloud.states.executions()).toMatchObject([
    { name: "survivor", status: "SUCCEEDED", startDate: startedAt, announced: true },
  ]);
  await vi.waitFor(() => expect(cloud.log.filter((each) => each.includes("rror"))).toEqual([]));
});
