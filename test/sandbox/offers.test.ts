// The service rejects what the catalog does not offer, and names the invalid field.
import { expect, test } from "vitest";
import { Catalog } from "../../shared/api/catalog.ts";
import { ERP_VERSIONS } from "../../shared/domain/erp-versions.ts";
import { problemsOfOffer, findSpecs } from "../../shared/providers/catalog.ts";
import { sandbox } from "../../shared/providers/sandbox/provider.ts";

const catalog: Catalog = Catalog.parse({
  providers: [await sandbox.catalog()],
  erp_versions: ERP_VERSIONS,
  editions: ["community"],
});

const offer = { provider: "sandbox", region: "eu-west", size: "small" };

test("a size determines the specs of the server", () => {
  expect(problemsOfOffer(catalog, offer)).toEqual([]);
  expect(findSpecs(catalog, offer)).toEqual({ cpu: 2, memory_gb: 4, disk_gb: 40 });
});

test.each([
  ["provider", { ...offer, provider: "hetzner" }, "must be one of: sandbox"],
  ["region", { ...offer, region: "moon" }, "must be one of: eu-central, eu-west, us-east"],
  ["size", { ...offer, size: "huge" }, "must be one of: small, medium, large, xlarge"],
  ["size", { ...offer, size: "xlarge" }, "is not available in eu-west; it is available in: eu-central, us-east"],
])("a wrong %s is rejected and its valid values are listed: %o", (field, request, reason) => {
  expect(problemsOfOffer(catalog, request)).toEqual([{ field, reason }]);
});

test("every size is offered in at least one region, and only in regions that exist", () => {
  for (const { regions, sizes } of catalog.providers) {
    const codes = regions.map(({ code }) => code);
    for (const size of sizes) {
      expect(size.regions.length).toBeGreaterThan(0);
      expect(codes).toEqual(expect.arrayContaining(size.regions));
    }
  }
});
