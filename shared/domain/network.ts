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
export function toNetwork(written: string): string {
  const address = plainAddress(written);
  if (!address.includes(":")) return address;
  const [before = [], after] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const groups = [...before];
  // Two colons stand for as many zeros as are missing.
  if (after !== undefined)
    groups.push(...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0"), ...after);
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/** The bytes of an address, 4 or 16; undefined if it is none. */
export function bytesOfAddress(written: string): number[] | undefined {
  const address = plainAddress(written);
  const parts = IPV4.exec(address)?.slice(1);
  if (parts !== undefined) return parts.every((part) => part === String(Number(part) & 255)) ? parts.map(Number) : undefined;
  // The URL parser takes brackets and paths, too.
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(`http://[${address}]`)) return undefined;
  const [before = [], after = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((half) => half.split(":").filter(Boolean));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 255]);
}

/** An address from its bytes, as it is usually written. */
export function addressInText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** The longest prefix of a network: an IPv4 address, or what one IPv6 customer has. */
const BITS_MAX = { 4: 32, 16: 64 } as const;
const bitsMax = ({ length }: readonly number[]): number => (length === 4 ? BITS_MAX[4] : BITS_MAX[16]);

/** A network in bytes: the length of its prefix, then the prefix. 5 bytes for IPv4, 9 for IPv6, whatever the length. */
const networkIn = (address: readonly number[], bits: number): Uint8Array =>
  Uint8Array.from([
    bits,
    ...address.slice(0, bitsMax(address) / 8).map((byte, i) => byte & (0xff00 >> Math.max(0, Math.min(8, bits - 8 * i))) & 0xff),
  ]);

/** The bytes of a network such as 192.0.2.0/24, or of one IPv4 address; undefined if it is none, or too small for IPv6. */
export function parseNetwork(text: string): Uint8Array | undefined {
  const [, host = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = bytesOfAddress(host);
  if (address === undefined) return undefined;
  // The prefix of a mapped IPv4 network (`::ffff:192.0.2.0/120`) counts the 96 bits before the IPv4 address, too.
  const before = address.length === 4 && host.includes(":") ? 96 : 0;
  const bits = length === undefined ? 8 * address.length : Number(length) - before;
  return bits >= 0 && bits <= bitsMax(address) ? networkIn(address, bits) : undefined;
}

/** A network from its bytes: 192.0.2.0/24. */
export function networkInText([bits = 0, ...prefix]: Uint8Array): string {
  const bytes = Uint8Array.from(prefix.length === 4 ? prefix : [...prefix, ...prefix.map(() => 0)]);
  return `${addressInText(bytes)}/${bits}`;
}

/** Every network that an address is in, from all addresses of its kind to the smallest. */
export function networksAround(address: string): Uint8Array[] {
  const bytes = bytesOfAddress(address);
  return bytes === undefined ? [] : Array.from({ length: bitsMax(bytes) + 1 }, (_, bits) => networkIn(bytes, bits));
}

/** Each network once, as `networkInText` writes it. */
export const normalizeNetworks = (networks: readonly string[]): string[] => [
  ...new Set(networks.flatMap((each) => parseNetwork(each) ?? []).map(networkInText)),
];

/** Whether an address is in one of the networks, which are as `networkInText` writes them. */
export function isInNetworks(networks: readonly string[], address: string): boolean {
  const around = networksAround(address).map(networkInText);
  return networks.some((network) => around.includes(network));
}
