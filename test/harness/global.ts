// Once for all tests: the bundles and the template of the present sources, and one cloud in memory made of them.
import type { TestProject } from "vitest/node";
import { bundleIfChanged } from "../../infra/bundle.ts";
import { synthIfChanged } from "../../infra/local/synthesized.ts";
import { type CloudFacts, factsOf, startTestCloud } from "./cloud.ts";
import { dashboard } from "./dashboard.ts";
import { requireNode24 } from "./node24.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the app of these sources was synthesized to. */
    outDir: string;
    /** The folder of its bundles. */
    bundles: string;
    shared: CloudFacts;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  requireNode24();
  const bundles = await bundleIfChanged();
  const outDir = await synthIfChanged(bundles, ["test"]);
  const cloud = await startTestCloud(outDir, { fallback: dashboard() });
  project.provide("outDir", outDir);
  project.provide("bundles", bundles);
  project.provide("shared", factsOf(cloud));
  return cloud.stop;
}
