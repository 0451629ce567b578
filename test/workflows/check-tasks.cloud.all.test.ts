// The tasks of a check of an instance's code, with requests between them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Code } from "../../shared/api/code.ts";
import { findSandboxCommit } from "../../shared/providers/sandbox/repositories.ts";
import { processCloud } from "../harness/cloud.ts";
import { erpsOf } from "./erps.ts";
import { type WorkflowHarness, workflowHarness } from "./harness.ts";

let harness: WorkflowHarness;
beforeAll(async () => {
  harness = await workflowHarness(await processCloud(), { seeded: true });
});
afterAll(() => harness.close());
const { api } = erpsOf(() => harness);

test("a check records commits for the repositories that it has looked up, whatever is set meanwhile", async () => {
  const { id } = await harness.me.instance();
  const [first, second] = ["first", "second"].map((name) => ({ url: `https://git.example/${name}`, ref: "main" }));
  const set = async (repositories: unknown[]) => (await api()).put(`/instances/${id}/code`, { repositories });
  await set([first, second]);
  const { operation } = await harness.run(
    workflows["check-code-instance"],
    async () => (await api()).post(`/instances/${id}/code/check`, {}),
    async ({ task }, next) => {
      if (task === "inspectCode") await set([second, { url: "https://git.example/third", ref: "main" }]);
      return next();
    },
  );
  const commitOf = async (name: string) =>
    (await findSandboxCommit(harness.me.id, `https://git.example/${name}`, "main"))?.commit;
  expect(operation.result?.code?.commits.map(({ url, commit }) => [url, commit])).toEqual([
    ["https://git.example/first", await commitOf("first")],
    ["https://git.example/second", await commitOf("second")],
  ]);
  const { repositories } = (await (await api()).get(`/instances/${id}/code`)).as(Code);
  expect(repositories.map(({ newest_commit }) => newest_commit)).toEqual([await commitOf("second"), null]);
});
