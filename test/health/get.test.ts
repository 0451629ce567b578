// GET /health and GET /openapi.json, which are public.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { readCommit } from "../../infra/commit.ts";
import { routes } from "../../shared/api/index.ts";
import { anonymous } from "../harness/client.ts";

test("anyone can read the health of the service, its environment, its version and its commit", async () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync("package.json", "utf8")));
  expect((await anonymous.get("/health")).body).toEqual({
    success: true,
    data: { status: "ok", environment: "test", version, commit: readCommit() },
  });
});

test("anyone can read the OpenAPI description, which has every path of the service and no other", async () => {
  const document = (await anonymous.get("/openapi.json")).as(
    z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
  );
  expect(document.openapi).toMatch(/^3\.1\./);
  const paths = [...new Set(routes.map(({ path }) => path.replace(/:(\w+)/g, "{$1}")))];
  expect(Object.keys(document.paths).toSorted()).toEqual(paths.toSorted());
});
