// A restore of an instance whose data has changed since its backup, for the tests of restores.
import { expect } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Backup } from "../../shared/api/backups.ts";
import type { Instance } from "../../shared/api/instances.ts";
import type { LIFECYCLE } from "../../shared/domain/lifecycle.ts";
import { erpsOf } from "./erps.ts";
import { InjectedError, type WorkflowHarness } from "./harness.ts";

export const OLD = { orders: 2, note: "written since the backup" };
export const ARCHIVED = { orders: 1 };

type From = (typeof LIFECYCLE)["backup.restore"]["from"][number];

export function restoresOf(harness: () => WorkflowHarness) {
  const erps = erpsOf(harness);
  const { api, show, write, erpOf } = erps;
  const act = async (id: string, action: string) => (await api()).post(`/instances/${id}/actions`, { action });

  /** The contents of an ERP, without its number of writes. */
  const contents = async (instance: Instance) => {
    const { database, files, status, replaced, domain } = await erpOf(instance);
    return { database, files, status, replaced, domain };
  };

  /** An instance in this status, whose data changed after the backup. */
  async function changedSince(from: From, note?: string): Promise<{ instance: Instance; backup: Backup }> {
    const { me } = harness();
    const instance = await me.instance();
    await write(instance.id, ARCHIVED);
    const backup = await me.backup(instance.id, note === undefined ? {} : { note });
    await write(instance.id, OLD);
    if (from === "stopped") await harness().run(workflows["stop-instance"], () => act(instance.id, "stop"));
    if (from === "failed")
      await harness().run(
        workflows["restart-instance"],
        () => act(instance.id, "restart"),
        async ({ task }, next) => {
          if (task === "restartErp") throw new InjectedError("GiveUp");
          return next();
        },
      );
    expect((await show(instance.id)).status).toBe(from);
    return { instance, backup };
  }

  const restore = async (backup: Backup, body: unknown = {}) => (await api()).post(`/backups/${backup.id}/restore`, body);

  return { ...erps, contents, changedSince, restore };
}
