// GET /settings/alerts and PUT /settings/alerts
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Alert } from "../../shared/api/alerts.ts";
import { Settings } from "../../shared/api/alert-settings.ts";
import { closeAlertsNotInSettings, readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { DEFAULT_ALERT_SETTINGS } from "../../shared/domain/alerts.ts";
import { measure } from "../alerts/measure.ts";
import { account } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";

describe("/settings/alerts", () => {
  test("has the defaults until they are changed; what is left out stays, and null is off", async () => {
    const { api } = await account();
    expect((await api.get("/settings/alerts")).as(Settings)).toEqual(DEFAULT_ALERT_SETTINGS);
    const put = (body: object) => api.put("/settings/alerts", body);
    const changed = { disk_free_percent: [30, 20, 10], cpu_percent: null, drill_failed: false };
    const set = await put({ disk_free_percent: [10, 30, 20], cpu_percent: null, drill_failed: null });
    expect(set.as(Settings)).toEqual({ ...DEFAULT_ALERT_SETTINGS, ...changed });
    expect((await put({ down_minutes: 60 })).as(Settings)).toEqual({ ...DEFAULT_ALERT_SETTINGS, ...changed, down_minutes: 60 });
    const tag = String(set.headers["etag"]);
    expect((await api.put("/settings/alerts", { down_minutes: 5 }, { headers: { "if-match": tag } })).status).toBe(412);
    for (const body of [
      {},
      { down_minutes: 1 },
      { down_minutes: 61 },
      { disk_free_percent: [] },
      { disk_free_percent: [5, 5] },
      { disk_free_percent: [1, 2, 3, 4] },
      { disk_free_percent: [100] },
      { disk_quota_percent: 0 },
      { certificate_days: 91 },
      { token_expiry_days: [0] },
      { backup_overdue: 1 },
      { other: 1 },
    ])
      expect([body, (await put(body)).status]).toEqual([body, 422]);
    const both = await Promise.all([put({ cpu_percent: 50 }), put({ memory_free_percent: null })]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await api.get("/settings/alerts")).as(Settings)).toMatchObject({ cpu_percent: 50, memory_free_percent: null });
  });

  test("closes what is off, and thresholds that were changed", async () => {
    const me = await account();
    const server = await seedServer(me.id);
    await measure(server, 3);
    await me.api.put("/settings/alerts", { disk_free_percent: [15] });
    await closeAlertsNotInSettings(await readAlerts(me.id));
    const open = async () => (await me.api.get("/alerts?status=open")).as(z.array(Alert)).map(({ threshold }) => threshold);
    expect(await open()).toEqual([15]);
    await me.api.put("/settings/alerts", { disk_free_percent: null });
    await measure(server, 3);
    expect(await open()).toEqual([]);
  });
});
