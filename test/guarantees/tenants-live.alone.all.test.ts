// Another account's IDs, in the environment `live`, which offers a machine that nothing is done on.
import { stackName } from "../../infra/settings.ts";
import { newPublicKey } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { prove } from "./prove.ts";
import { attackTenants } from "./tenants.ts";

const MACHINE = { name: "office", address: "203.0.113.7", cpu: 2, memory_gb: 4, disk_gb: 40, host_key: newPublicKey() };

prove("tenants-live", async () => {
  const configuration = { byo: { machines: [MACHINE] } };
  const cloud = await ownCloud({ stack: stackName("live"), timeScale: 0, configuration });
  await cloud.events.fire("refreshcatalog");
  return attackTenants(cloud);
});
