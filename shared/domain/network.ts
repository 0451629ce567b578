// Whose address it is: of IPv6 a customer is given 2^64 of them at once, so that the network is what stays the same.

/** An IPv4 address as it is; of an IPv6 address the first 64 bits, in one spelling. */
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
