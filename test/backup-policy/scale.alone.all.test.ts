// A night of policies that are all due at once, in a small size: `npm run bench -- --policies` simulates 10,000 (docs/scale.md).
import { expect, inject, test } from "vitest";
import { readTemplate } from "../../infra/local/template/template.ts";
import { stackName } from "../../infra/settings.ts";
import { SCHEDULED_AT_ONCE } from "../../shared/domain/limits.ts";
import { simulate } from "../benchmark/policies.ts";

test("policies that are all due at once start within 15 minutes, each once, at most two on a server, and each run removes a backup", async () => {
  const [table] = readTemplate(inject("outDir"), stackName("live")).tables;
  if (table === undefined) throw new Error("The template has no table");
  const database = { url: inject("databaseUrl"), accessKeyId: "scale" };
  process.env["ENVIRONMENT"] = "live";
  const night = { accounts: 3, serversOfAccount: 3, instancesOfServer: 4, backupsOfInstance: 2, backupMinutes: 4, sample: 3 };
  const { minutes, starts, atOnce, idle } = await simulate(database, table, night);
  expect(idle.calls).toBe(5); // four of the policies, and one of pushes
  expect(starts.size).toBe(36);
  for (const each of starts.values()) {
    expect(each).toHaveLength(1);
    expect(Math.max(...each)).toBeLessThanOrEqual(15);
  }
  expect(atOnce).toBe(SCHEDULED_AT_ONCE);
  expect(minutes.reduce((sum, { deletions }) => sum + deletions, 0)).toBe(36);
});
