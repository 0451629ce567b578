// Another account's IDs, in the environment `test`.
import { processCloud } from "../harness/cloud.ts";
import { prove } from "./prove.ts";
import { attackTenants } from "./tenants.ts";

prove("tenants", async () => attackTenants(await processCloud()));
