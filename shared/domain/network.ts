// Identifies a client by its network: an IPv6 customer has 2^64 addresses, so only the network stays the same.

/** An IPv4 address unchanged; the first 64 bits of an IPv6 address, in canonical form. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [before = [], after] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const groups = [...before];
  // Two colons stand for as many zeros as are missing.
  if (after !== undefined)
    groups.push(...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0"), ...after);
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
