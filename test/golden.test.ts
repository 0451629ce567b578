// The API matches the committed files: every change of it has to be deliberate.
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { readTemplate } from "../infra/local/template/template.ts";
import { stackName } from "../infra/settings.ts";
import { GATEWAY, gatewayText } from "./golden/gateway.ts";
import { goldens, inThisFolder } from "./golden/golden.ts";

const gateway = () => gatewayText(readTemplate(inject("outDir"), stackName("test")));

test.each(Object.entries({ ...goldens, [GATEWAY]: gateway }))("%s matches the committed golden file", (name, generate) => {
  expect(generate(), `test/golden/${name} differs: if that is meant, run \`npm run golden\``).toBe(
    readFileSync(inThisFolder(name), "utf8"),
  );
});
