// Rewrites the golden files from the code: `npm run golden`. Review the difference before you commit it.
import { writeFileSync } from "node:fs";
import { bundledSizes, bundleIfChanged } from "../../infra/bundle.ts";
import { synthIfChanged } from "../../infra/local/template/synthesized.ts";
import { readTemplate } from "../../infra/local/template/template.ts";
import { stackName } from "../../infra/settings.ts";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { BUNDLES, hasGrown, knownSizes } from "./bundles.ts";
import { renderDocs } from "../guarantees/results.ts";
import { GATEWAY, gatewayText } from "./gateway.ts";
import { CODES, codes, goldens, inThisFolder, knownCodes } from "./golden.ts";

for (const [name, generate] of Object.entries(goldens)) writeFileSync(inThisFolder(name), generate());

// Additions only: what was committed stays, and a test names what differs from it.
writeFileSync(inThisFolder(CODES), `${JSON.stringify({ ...codes(), ...knownCodes() }, null, 2)}\n`);

renderDocs();

// A size stands until it is off by more than 5 %, so that growth in small steps does not go unseen.
const oldSizes = knownSizes();
const bundles = await bundleIfChanged();
const sizes = Object.entries(await bundledSizes(bundles)).map(([id, bytes]) => {
  const before = oldSizes[id] ?? 0;
  return [id, hasGrown(before, bytes) || hasGrown(bytes, before) ? bytes : before] as const;
});
const sorted = sizes.toSorted(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(inThisFolder(BUNDLES), `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);

const template = readTemplate(await synthIfChanged(bundles, ENVIRONMENTS), stackName("test"));
writeFileSync(inThisFolder(GATEWAY), gatewayText(template));
process.exit(0); // the channel to whoever started this would keep the process alive
