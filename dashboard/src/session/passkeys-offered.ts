// Whether the browser offers passkeys here: it does not at an IP address.

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

export const isAtAddress = (): boolean => isAddress(window.location.hostname);

export const offersPasskeys = (): boolean => typeof window.PublicKeyCredential === "function" && !isAtAddress();

/** The dashboard by its name, on this machine; elsewhere only whoever runs it knows one. */
export function namedAddress(): string | undefined {
  const { hostname, port, protocol } = window.location;
  return hostname.startsWith("127.") ? `${protocol}//localhost${port === "" ? "" : `:${port}`}` : undefined;
}
