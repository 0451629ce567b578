// The TXT records of a domain: those of the DNS or, in the sandbox, those that the account has set.
import { Resolver } from "node:dns/promises";
import * as z from "zod";
import { keys } from "../../data/keys.ts";
import { find, putOne } from "../../data/table.ts";
import { chooseByEnvironment } from "../../platform/env.ts";

const SandboxDns = z.object({ txt: z.array(z.string()) });

/** Two tries: 6 s, of the 28 that a request has. */
const DNS = { timeout: 3_000, tries: 2 };

/** A domain that nobody can look up now has none. */
export const txtRecords = (accountId: string, name: string): Promise<readonly string[]> =>
  chooseByEnvironment<Promise<readonly string[]>>({
    live: async () => (await new Resolver(DNS).resolveTxt(name).catch(() => [])).map((parts) => parts.join("")),
    test: async () => (await find({ key: keys.sandboxDns(accountId, name), schema: SandboxDns }))?.txt ?? [],
  });

export const setSandboxTxt = (accountId: string, name: string, txt: readonly string[]): Promise<void> =>
  putOne(keys.sandboxDns(accountId, name), { txt: [...txt] });
