// Runs once for all tests: builds the bundles and the template of the current sources, and starts one cloud in memory from them.
import { once } from "node:events";
import { createServer } from "node:http";
import type { BrowserServer } from "playwright-core";
import type { TestProject } from "vitest/node";
import * as z from "zod";
import { bundleIfChanged } from "../../infra/bundle.ts";
import { startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";
import { synthIfChanged } from "../../infra/local/template/synthesized.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import type { OpenApi } from "../../shared/api/openapi/document.ts";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { serve } from "../browser/chromium.ts";
import { type CloudFacts, factsOf, startTestCloud } from "./facts.ts";
import { dashboard } from "./dashboard.ts";
import { requireNode24 } from "./node24.ts";
import { WARM_DATABASE } from "./warm-database.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The folder of the synthesized app. */
    outDir: string;
    /** The folder of its bundles. */
    bundles: string;
    /** The API's description, openapi.json: writing it takes half a second. */
    description: OpenApi;
    /** The URL of the one DynamoDB Local in which every cloud has its own tables: each Java costs seconds until it is warm. */
    databaseUrl: string;
    shared: CloudFacts;
    /** Which files share the calling file's process: none, those that use its cloud, or those that use the shared cloud. */
    process: "alone" | "cloud" | "together";
    /** Returns the URL of the one Chromium, and starts it at the first request. */
    chromium: string;
  }
}

/**
 * How long the shared cloud's threads are kept. Files come back to most functions within that time, and each first call costs a
 * tenth of a second of CPU.
 */
const KEPT_SECONDS = 180;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  requireNode24();
  const bundles = await bundleIfChanged();
  // All environments are synthesized together, because loading the CDK takes most of the time.
  const outDir = await synthIfChanged(bundles, ENVIRONMENTS);
  const warmUrl = process.env[WARM_DATABASE];
  const database =
    warmUrl === undefined ? await startDynamoDb({ optimizing: true }) : { url: warmUrl, stop: () => Promise.resolve() };
  const late: { storeUrl?: string } = {};
  const fallback = dashboard(() => late.storeUrl ?? "");
  const cloud = await startTestCloud(outDir, database.url, { fallback, idleSeconds: KEPT_SECONDS });
  late.storeUrl = cloud.storeUrl;
  project.provide("outDir", outDir);
  project.provide("databaseUrl", database.url);
  project.provide("bundles", bundles);
  project.provide("description", openapiDocument("test"));
  project.provide("shared", factsOf(cloud));
  const chromium = await offerChromium();
  project.provide("chromium", chromium.url);
  return async () => {
    await chromium.stop();
    await cloud.stop();
    await database.stop();
  };
}

/** One for all files, and none if no file needs it. */
async function offerChromium(): Promise<{ url: string; stop: () => Promise<void> }> {
  let started: Promise<BrowserServer> | undefined;
  const server = createServer((_request, response) => {
    started ??= serve();
    started.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.close();
      await (await started)?.close();
    },
  };
}
