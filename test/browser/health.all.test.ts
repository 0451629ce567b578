// An ERP that cannot be used, on its page and in the list, in both languages, while the page is open.
import { recordErpHealth } from "../../shared/operations/monitoring/health.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";
import { test } from "./browser.ts";

test.for([
  ["en", "Not working", "The ERP responds, but a stylesheet of its sign-in page does not load", "Running"],
  ["de", "Gestört", "Das ERP antwortet, aber ein Stylesheet seiner Anmeldeseite lädt nicht", "Läuft"],
] as const)(
  "in %s a page says that its ERP does not work, why, and that it works again",
  async ([locale, status, reason, running], { open }) => {
    const owner = await account({ seeded: true });
    const { id, server_id } = await seedInstance(owner.id);
    const server = await getServer(owner.id, server_id);
    const fault = { instance_id: id, check: "stylesheet", looks: 1 };
    const page = await open(`/instances/${id}`, { as: owner, locale, fresh: true });
    await page.getByText(running, { exact: true }).first().waitFor();
    await recordErpHealth(server, { [id]: 2 }, { sequence: 1, faults: [fault] });
    await page.getByText(reason).waitFor();
    await page.getByText(status, { exact: true }).first().waitFor();
    await page.goto("/instances");
    await page.getByText(status, { exact: true }).first().waitFor();
    await recordErpHealth(server, { [id]: 3 }, { sequence: 2, faults: [] });
    await page.getByText(running, { exact: true }).first().waitFor();
  },
);
