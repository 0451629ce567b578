// GET /catalog
import { expect, test } from "vitest";
import { Catalog } from "../../shared/api/catalog.ts";
import { account } from "../harness/account.ts";

test("the sandbox offers one provider, three ERP versions and what can be installed", async () => {
  const { api } = await account();
  const catalog = (await api.get("/catalog")).as(Catalog);
  expect(catalog.providers.map(({ code }) => code)).toEqual(["sandbox"]);
  expect(catalog.erp_versions).toEqual([
    { version: "19.0", deprecated: false },
    { version: "18.0", deprecated: false },
    { version: "17.0", deprecated: true },
  ]);
  expect(catalog.editions).toContain("community");
});

test("every size is available in some regions that its provider has", async () => {
  const { api } = await account();
  for (const { regions, sizes } of (await api.get("/catalog")).as(Catalog).providers) {
    const codes = regions.map(({ code }) => code);
    expect(codes.length).toBeGreaterThan(0);
    expect(sizes.length).toBeGreaterThan(0);
    for (const size of sizes) {
      expect(codes).toEqual(expect.arrayContaining(size.regions));
      expect(size.regions.length).toBeGreaterThan(0);
    }
  }
});
