// Asks the browser for a passkey, by code that is loaded only then.
import { load } from "./loading.ts";
import type { Assertion, PasskeyOptions } from "../../../shared/api/second-factors.ts";

export const loadPasskeys = () => load(() => import("../session/passkeys.ts"));

/** The browser used no passkey: the user declined, or has none here. */
export class NoPasskey extends Error {
  override name = "NoPasskey";
}

/** Throws NoPasskey. */
export async function askPasskey(options: PasskeyOptions | null | undefined): Promise<Assertion> {
  if (options == null) throw new NoPasskey();
  const { askForPasskey } = await loadPasskeys();
  return askForPasskey(options).catch((cause: unknown) => {
    throw new NoPasskey(undefined, { cause });
  });
}
