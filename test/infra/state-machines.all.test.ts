// The state machines of the synthesized stacks, validated as AWS does it.
import validateMachine from "asl-validator";
import { beforeAll, expect, test } from "vitest";
import { synth } from "../../infra/app.ts";
import { readTemplate } from "../../infra/local/template/template.ts";
import { stackName } from "../../infra/settings.ts";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { scratch, stubBundles, stubDashboard } from "./stubs.ts";

const folder = scratch();
beforeAll(() => synth(folder, ENVIRONMENTS, { bundles: stubBundles(), dashboard: stubDashboard() }));

test.each(ENVIRONMENTS)("the state machines of %s are valid in AWS's language", (environment) => {
  const { machines } = readTemplate(folder, stackName(environment));
  expect(machines.length).toBeGreaterThan(0);
  for (const { name, definition } of machines) {
    const { isValid, errorsText } = validateMachine(structuredClone(definition)); // the validator writes into it
    expect({ name, errors: isValid ? "" : errorsText("\n") }).toEqual({ name, errors: "" });
  }
});
