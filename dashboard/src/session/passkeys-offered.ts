// Whether the browser offers passkeys here: it does not at an IP address.
import { text } from "../messages/text.ts";

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

const isAtAddress = (): boolean => isAddress(window.location.hostname);

export const offersPasskeys = (): boolean => typeof window.PublicKeyCredential === "function" && !isAtAddress();

/** Why it offers none, and what to do; undefined if it does. */
export function whyNoPasskeys(): string | undefined {
  const say = text.app.noPasskeys;
  if (offersPasskeys()) return undefined;
  if (!isAtAddress()) return say.notSupported;
  const address = namedAddress();
  return address === undefined ? say.atAddress : say.notHere(address);
}

/** The dashboard by its name, on this machine; elsewhere only whoever runs it knows one. */
function namedAddress(): string | undefined {
  const { hostname, port, protocol } = window.location;
  return hostname.startsWith("127.") ? `${protocol}//localhost${port === "" ? "" : `:${port}`}` : undefined;
}
