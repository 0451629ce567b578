// This version and each release on the same data, one after the other and back, and as they serve together during a deployment
// and a rollback: no GET may fail, and customers' work goes on.
import { globSync, rmSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import * as z from "zod";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { unless } from "../harness/unless.ts";
import { checkOut, obstacleOf } from "./checkout.ts";
import { dataFolderOf, itemsOf, recordedReleases } from "./data.ts";
import { startService, type Service } from "./service.ts";
import { walk, type Walk, type WalkOptions } from "./walk.ts";
import { deployAndReboot, runBulkAction, work } from "./work.ts";

// Each start loads the CDK, a database and the functions: seconds here, minutes on a busy machine.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const ROOT = resolve(import.meta.dirname, "..", "..");

/** The lists to which a walk adds, because it needs tokens. */
const WALKED = ["/tokens", "/events"];

/** No request fails, every list is complete, and nothing was skipped because it could not be read. */
async function expectReadable(service: Service, options?: WalkOptions): Promise<Walk> {
  const result = await walk(service, options);
  expect(result.errors).toEqual([]);
  expect(service.errors().filter((line) => line.includes("record skipped"))).toEqual([]);
  return result;
}

/** A service stops even if its test fails. */
async function withService(options: Parameters<typeof startService>[0], use: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService(options);
  try {
    await use(service);
  } finally {
    await service.stop();
  }
}

/** What the release did not have. */
async function createWebhook({ api }: Service): Promise<void> {
  const body = { name: "Hook", url: "https://flaky.example/", events: ["*"] };
  const { id } = await api.send(z.object({ id: z.string() }), "POST", "/webhooks", body);
  await api.send(z.unknown(), "POST", `/webhooks/${id}/test`, {});
}

describe.each(recordedReleases())("the data of release %s", (release) => {
  let dataDir: string;
  let code: ReturnType<typeof checkOut> | undefined;
  const obstacle = obstacleOf(release);
  beforeAll(() => {
    dataDir = dataFolderOf(release);
    code = obstacle === undefined ? checkOut(release) : undefined;
  });
  afterAll(() => {
    rmSync(dataDir, { recursive: true, force: true });
    code?.remove();
  });
  const folder = (): string => code?.folder ?? "";

  test("takes less than a megabyte in the repository", () => {
    const files = globSync(join(import.meta.dirname, release, "**"))
      .map((file) => statSync(file))
      .filter((file) => file.isFile());
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(1e6);
  });

  let totals: Record<string, number> = {};
  /** The release's bundles, and the paths of its API. */
  let releaseFacts = { bundles: "", paths: [""] };
  test("is migrated by this version, which responds to every GET and goes on with it", async () => {
    await withService({ folder: ROOT, dataDir, items: itemsOf(release) }, async (service) => {
      expect(service.migrationLines.at(-1)).toMatch(/is done after/);
      await work(service, "second");
      await createWebhook(service);
      await runBulkAction(service);
      await deployAndReboot(service);
      expect((await walk(service, { filters: false })).errors).toEqual([]);
      await service.admin("before-rollback");
      ({ totals } = await expectReadable(service));
    });
  });

  test("can be used by handlers of the release with the authorizer and the tasks of this version", unless(obstacle), async () => {
    const bundles = inject("bundles");
    const ids = ["authorize", ...globSync(join(bundles, "tasks.*")).map((path) => basename(path))];
    const swapped = Object.fromEntries(ids.map((id) => [id, join(bundles, id)]));
    await withService({ folder: folder(), dataDir, swapped }, async (service) => {
      await work(service, "third");
      ({ totals } = await expectReadable(service, { filters: false }));
    });
  });

  test("can be used by the release after a rollback, with all that this version wrote", unless(obstacle), async () => {
    await withService({ folder: folder(), dataDir }, async (service) => {
      const { totals: releaseTotals, paths } = await expectReadable(service);
      releaseFacts = { bundles: service.bundles, paths };
      const lists = Object.keys(releaseTotals).filter((path) => !WALKED.includes(path));
      expect(lists.map((path) => [path, releaseTotals[path]])).toEqual(lists.map((path) => [path, totals[path]]));
      await work(service, "fourth");
    });
  });

  test("can be used by this version after another upgrade, also behind the release's authorizer", unless(obstacle), async () => {
    const swapped = { authorize: join(releaseFacts.bundles, "authorize") };
    await withService({ folder: ROOT, dataDir, swapped }, async (service) => {
      await work(service, "fifth");
      await service.admin("index");
      for (const type of ["bulk.run", "instance.deploy", "instance.check_code", "server.reboot"])
        expect((await service.api.request("GET", `/operations?type=${type}`)).meta?.total, type).toBe(1);
      await expectReadable(service, { filters: false, knownPaths: releaseFacts.paths });
    });
  });
});
