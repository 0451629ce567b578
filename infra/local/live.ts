// What a start of the live environment prepares and prints: the providers' offers, the service's SSH key, and the first steps.
import { relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readOffers } from "../../shared/records/catalog.ts";
import { allAccounts } from "../../shared/operations/accounts/operator.ts";
import { serviceKey } from "../../shared/platform/service-key.ts";
import type { Cloud } from "./cloud.ts";
import { dashboardUrl } from "./dashboard-url.ts";
import { PROVIDER_VARIABLES } from "./operator.ts";

interface Live {
  providers: string[];
  hasAccount: boolean;
  serviceKey: string;
}

const CATALOG_SECONDS = 30;

/** Refreshes the catalog immediately instead of waiting for the schedule. */
export async function prepareLive({ events }: Pick<Cloud, "events">): Promise<Live> {
  // A provider that does not respond is asked again by the schedule.
  await Promise.race([events.fire("refreshcatalog").catch(() => undefined), sleep(CATALOG_SECONDS * 1000)]);
  const { providers } = await readOffers();
  const { public_key } = await serviceKey();
  return { providers: providers.map(({ name }) => name), hasAccount: (await allAccounts()).length > 0, serviceKey: public_key };
}

const NO_PROVIDERS = `none yet: set ${Object.values(PROVIDER_VARIABLES).join(" or ")} (docs/live.md); if one is set, its offers could not be read yet (see the logs)`;

export function liveWelcome({ providers, hasAccount, serviceKey: key }: Live, apiUrl: string, dataDir: string): string {
  const dataFolder = shellWord(relative(".", dataDir) || ".");
  const admin = `npm run admin -- create-account --name "My company" --email me@example.com --data ${dataFolder}`;
  return `
  Dashboard  ${dashboardUrl(apiUrl)}/
  API        ${apiUrl}/api/v1
  API page   ${dashboardUrl(apiUrl)}/docs
  Providers  ${providers.join(", ") || NO_PROVIDERS}

The service signs in to machines as root with this key. Machines of your own need it in /root/.ssh/authorized_keys:

${key}
${hasAccount ? "" : `\nThere is no account yet. Create one in another terminal:\n\n${admin}\n`}`;
}

/** Quotes the text for a shell, if it needs quotes. */
export const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
