// The keys with which an account reads repositories: one for each URL, because hosts take a key only once.
import { randomBytes } from "node:crypto";
import type { DeployKey } from "../api/code.ts";
import { type Change, Overtaken } from "../data/change.ts";
import { keys, keyString } from "../data/keys.ts";
import { readAll } from "../data/table.ts";
import { createKeyPair, fingerprintOf } from "../platform/key-pair.ts";
import { seal } from "../platform/sealing.ts";
import { seedContext } from "./code-secrets.ts";
import { DeployKeyRecord } from "./schemas/code.ts";

const SEED_BYTES = 32;

/** The public halves of the keys for these repositories; those that are missing are made with the change. */
export async function deployKeys(change: Change, urls: readonly string[]): Promise<Map<string, DeployKey>> {
  const distinctUrls = [...new Set(urls)];
  const items = await readAll(distinctUrls.map((url) => keys.deployKey(change.accountId, url)));
  const all = await Promise.all(
    distinctUrls.map(async (url): Promise<[string, DeployKey]> => {
      const item = items.get(keyString(keys.deployKey(change.accountId, url)));
      const { public_key, fingerprint } = item === undefined ? await makeKey(change, url) : DeployKeyRecord.parse(item);
      return [url, { public_key, fingerprint }];
    }),
  );
  return new Map(all);
}

async function makeKey(change: Change, url: string): Promise<DeployKey> {
  const seed = randomBytes(SEED_BYTES);
  const { public_key } = createKeyPair(seed, "deploy");
  const record: DeployKeyRecord = {
    url,
    public_key,
    fingerprint: fingerprintOf(public_key),
    sealed_seed: await seal(seed.toString("hex"), seedContext(change.accountId, url)),
  };
  change.put(
    keys.deployKey(change.accountId, url),
    record,
    () => new Overtaken("Another request made the repository's key at the same time; try again", url),
  );
  return record;
}
