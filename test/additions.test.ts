// Adding an endpoint or a workflow as the README says satisfies the type checker.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const TYPE_CHECKER = resolve("node_modules/typescript/bin/tsc");

test("adding an endpoint or a workflow takes only the changes that the README lists", () => {
  const tree = mkdtempSync(join(tmpdir(), "additions-"));
  onTestFinished(() => rmSync(tree, { recursive: true }));
  for (const part of ["shared", "functions", "infra", "package.json"]) cpSync(part, join(tree, part), { recursive: true });
  symlinkSync(resolve("node_modules"), join(tree, "node_modules"));
  const extended = { extends: resolve("tsconfig.json"), include: ["shared", "functions", "infra"] };
  writeFileSync(join(tree, "tsconfig.json"), JSON.stringify(extended));
  const touched: string[] = [];
  const add = (file: string, text: string) => {
    touched.push(file);
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  };
  const change = (file: string, before: string, after: string) => {
    const text = readFileSync(join(tree, file), "utf8");
    expect(text).toContain(before);
    add(file, text.replace(before, after));
  };

  change(
    "shared/domain/lifecycle.ts",
    '  "instance.start": instance(',
    '  "instance.polish": instance({ from: ["running"], through: "unchanged", to: "before", failed: "before" }),\n  "instance.start": instance(',
  );
  add(
    "functions/workflows/polish-instance/workflow.ts",
    `import * as z from "zod";
import { id } from "../../../shared/api/fields.ts";
import { step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.polish",
  access: { keys: ["hosts"] },
  input: z.object({ account_id: id("account"), operation_id: id("operation"), instance_id: id("instance") }),
  steps: [step("polish", "Polishing")],
});
`,
  );
  add(
    "functions/workflows/polish-instance/tasks.ts",
    `import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, { polish: async () => undefined });
`,
  );
  change(
    "functions/workflows/index.ts",
    "export const workflows",
    'import polishInstance from "./polish-instance/workflow.ts";\n\nexport const workflows',
  );
  change("functions/workflows/index.ts", '  "start-instance"', '  "polish-instance": polishInstance,\n  "start-instance"');
  change(
    "shared/api/instances.ts",
    "  act: endpoint({",
    `  polish: endpoint({
    method: "POST",
    path: "/instances/:id/polish",
    summary: "Polish an instance",
    access: ["instances:actions"],
    status: 202,
    starts: ["polish-instance"],
    body: z.strictObject({}),
    data: Operation,
  }),
  act: endpoint({`,
  );
  add(
    "functions/instances/polish.ts",
    `import { api } from "../../shared/api/index.ts";
import { instanceRef, moveInstance, presentInstance } from "../../shared/data/instances.ts";
import { reserveOperation, toOperation } from "../../shared/data/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.polish)(async ({ params, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork({ caller, read }, { instance: instanceRef(caller.account_id, params.id) });
  const { id, name, state } = moveInstance(change, presentInstance(records.instance), "instance.polish", operationId);
  const resource = { type: "instance", id, name } as const;
  return commit(change, toOperation(reserveOperation(change, by, { id: operationId, type: "instance.polish", resource, before: state })));
});
`,
  );

  const readme = readFileSync("README.md", "utf8");
  const guide = readme.slice(readme.indexOf("### Add an endpoint")).replaceAll(/<(?:resource|name|verb)>/g, "*");
  const unnamed = touched.filter((file) => {
    const named = file.replace(/workflows\/[a-z]+-[a-z]+\//, "workflows/*/");
    return ![named, named.replace(/[a-z-]+\.ts$/, "*.ts"), named.replace(/\/[a-z-]+\/[a-z-]+\.ts$/, "/*/*.ts"), "tasks.ts"].some(
      (place) => guide.includes(`\`${place}\``) && (place !== "tasks.ts" || file.endsWith("/tasks.ts")),
    );
  });
  expect(unnamed).toEqual([]);
  expect(() => execFileSync(process.execPath, [TYPE_CHECKER, "--noEmit"], { cwd: tree, encoding: "utf8" })).not.toThrow();
}, 240_000); // a type check of everything takes a minute on a busy machine
