// Whether the browser offers passkeys here: it does not at an IP address.

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

export const supportsPasskeys = (): boolean => typeof window.PublicKeyCredential === "function";

export const offersPasskeys = (): boolean => supportsPasskeys() && !isAddress(window.location.hostname);

/** The same page by a name; undefined if it has one. */
export function namedAddress(): string | undefined {
  const { hostname, port, protocol } = window.location;
  if (!isAddress(hostname)) return undefined;
  return hostname.startsWith("127.") ? `${protocol}//localhost${port === "" ? "" : `:${port}`}` : undefined;
}
