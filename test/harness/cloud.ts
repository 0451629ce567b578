// The clouds that tests run against. A file uses the shared one, which it knows by HTTP and by its table, or one in its own
// process, whose calls it can count and whose parts it can turn off: that of the process, or one that it starts for itself.
import { afterAll, inject } from "vitest";
import type { CloudOptions } from "../../infra/local/cloud.ts";
import { stackName } from "../../infra/settings.ts";
import { type CloudFacts, factsOf, startTestCloud, type TestCloud } from "./facts.ts";
import { useTable } from "./table.ts";

let used: string | undefined;

/** The data functions read the environment once, so a file has one cloud. */
function use({ apiUrl, environment }: CloudFacts): string {
  if (used !== undefined && used !== apiUrl) throw new Error("A test file uses one cloud: the shared one, or one of its own");
  if (used === undefined) Object.assign(process.env, environment);
  used = apiUrl;
  useTable(environment);
  return apiUrl;
}

/** The URL of the cloud that this file uses: the shared one unless it has started its own. */
export function apiUrl(): string {
  if (used === undefined && inject("process") === "cloud") throw new Error("A `.cloud.test.ts` file calls processCloud first");
  return used ?? use(inject("shared"));
}

/** A live cloud for the calling file, which polls as often as the test one. */
export const ownLiveCloud = (): Promise<TestCloud> => ownCloud({ stack: stackName("live"), timeScale: 0.005 });

/** A cloud for the calling file alone, stopped at its end. */
export async function ownCloud(options: Partial<CloudOptions> = {}): Promise<TestCloud> {
  if (["cloud", "together"].includes(inject("process")))
    throw new Error("A file that starts a cloud has a process of its own: name it X.alone.test.ts (CONTRIBUTING.md)");
  const cloud = await startTestCloud(inject("outDir"), inject("databaseUrl"), options);
  afterAll(() => cloud.stop());
  use(factsOf(cloud));
  return cloud;
}

let sharedCloud: Promise<TestCloud> | undefined;

/**
 * The cloud of this process, in which nothing waits. One file after another uses it, because starting its functions anew is what
 * a small file mostly costs: a file leaves nothing intercepted, broken or held.
 */
export async function processCloud(): Promise<TestCloud> {
  if (inject("process") === "together")
    throw new Error(
      "A file that uses the cloud of its process shares it only with its like: name it X.cloud.test.ts (CONTRIBUTING.md)",
    );
  sharedCloud ??= startTestCloud(inject("outDir"), inject("databaseUrl"), { timeScale: 0 });
  const cloud = await sharedCloud;
  use(factsOf(cloud));
  return cloud;
}
