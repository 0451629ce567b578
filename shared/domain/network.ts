// Identifies a client by its network: an IPv6 customer has 2^64 addresses, so only the network stays the same.

/** An address as it is compared and shown: an IPv4 address that was mapped to IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
export function plainAddress(address: string): string {
  if (!address.includes(":") || !URL.canParse(`http://[${address}]`)) return address;
  const [, ...halves] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (halves.length === 0) return address;
  return halves
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 255])
    .join(".");
}

/** An IPv4 address unchanged; the first 64 bits of an IPv6 address, in canonical form. */
export function toNetwork(given: string): string {
  const address = plainAddress(given);
  if (!address.includes(":")) return address;
  const [before = [], after] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const groups = [...before];
  // Two colons stand for as many zeros as are missing.
  if (after !== undefined)
    groups.push(...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0"), ...after);
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
