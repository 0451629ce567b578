// The sandbox's offers, which never change.
import type { CatalogProvider } from "../../api/catalog.ts";

/** Nothing is real, and so nothing costs anything. */
const FREE = { price: { monthly: 0, hourly: 0, currency: "EUR" }, region_prices: {} };

export const SANDBOX_CATALOG: CatalogProvider = {
  code: "sandbox",
  name: "Sandbox",
  regions: [
    { code: "eu-central", name: "Europe (central)" },
    { code: "eu-west", name: "Europe (west)" },
    { code: "us-east", name: "United States (east)" },
  ],
  sizes: [
    { code: "small", cpu: 2, memory_gb: 4, disk_gb: 40, regions: ["eu-central", "eu-west", "us-east"], ...FREE },
    { code: "medium", cpu: 4, memory_gb: 8, disk_gb: 80, regions: ["eu-central", "eu-west", "us-east"], ...FREE },
    { code: "large", cpu: 8, memory_gb: 16, disk_gb: 160, regions: ["eu-central", "eu-west", "us-east"], ...FREE },
    // This size is not offered everywhere, so that users can meet this case here too.
    { code: "xlarge", cpu: 16, memory_gb: 32, disk_gb: 320, regions: ["eu-central", "us-east"], ...FREE },
  ],
};
