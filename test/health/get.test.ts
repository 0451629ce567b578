// GET /health, and GET /openapi.json: open to all.
import { expect, test } from "vitest";
import * as z from "zod";
import { routes } from "../../shared/api/index.ts";
import { stranger } from "../harness/client.ts";

test("anyone may ask whether the service is well, where, and in which version", async () => {
  expect((await stranger.get("/health")).body).toEqual({
    success: true,
    data: { status: "ok", environment: "test", version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
  });
});

test("anyone may read the description, which has every path of this service and no other", async () => {
  const document = (await stranger.get("/openapi.json")).as(
    z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
  );
  expect(document.openapi).toMatch(/^3\.1\./);
  const paths = [...new Set(routes.map(({ path }) => path.replace(/:(\w+)/g, "{$1}")))];
  expect(Object.keys(document.paths).toSorted()).toEqual(paths.toSorted());
});
