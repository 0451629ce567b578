// The list of providers. No other module has it.
import { deployment } from "../records/installation.ts";
import { because } from "../domain/reasons.ts";
import { chooseByEnvironment } from "../platform/env.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { byo } from "./byo.ts";
import { type Configuration, type ConfiguredProvider, configuration } from "../platform/configuration.ts";
import { digitalocean } from "./digitalocean.ts";
import { hetzner } from "./hetzner.ts";
import type { Provider } from "./provider.ts";
import { sandbox } from "./sandbox/provider.ts";

export const providers = (): Promise<readonly Provider[]> =>
  chooseByEnvironment({ test: async () => [sandbox], live: async () => loadProviders(await configuration()) });

let cachedProviders: { from: string; providers: readonly Provider[] } | undefined;

/** Reused while the configuration is unchanged, because they remember how long their provider asked them to wait. */
async function loadProviders(configured: Configuration): Promise<readonly Provider[]> {
  const from = JSON.stringify(configured);
  if (cachedProviders?.from === from) return cachedProviders.providers;
  const label = await deployment();
  const byCode: Record<ConfiguredProvider, Provider | undefined> = {
    hetzner: configured.hetzner && hetzner({ ...configured.hetzner, deployment: label }),
    digitalocean: configured.digitalocean && digitalocean({ ...configured.digitalocean, deployment: label }),
    byo: configured.byo && byo(configured.byo.machines),
  };
  cachedProviders = { from, providers: Object.values(byCode).filter((provider) => provider !== undefined) };
  return cachedProviders.providers;
}

/** The provider of a server that exists. */
export async function loadProvider(server: { provider: string }): Promise<Provider> {
  const provider = (await providers()).find(({ code }) => code === server.provider);
  if (provider === undefined)
    throw new GiveUp("PROVIDER_UNAUTHORIZED", because("credentials_missing", { provider: server.provider }));
  return provider;
}
