// The dashboard of this machine is reached by a name, because browsers refuse passkeys at an IP address.

/** Its origin, at the port of the API. */
export function dashboardUrl(apiUrl: string): string {
  const url = new URL(apiUrl);
  url.hostname = "localhost";
  return url.origin;
}
