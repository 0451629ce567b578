// Networks: failed sign-ins count by them, so that the owner of many addresses gets no more tries, and tokens may work from some
// only.
import { expect, test } from "vitest";
import { networkInText, networksAround, parseNetwork, toNetwork } from "../../shared/domain/network.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["unknown", "unknown"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["::192.0.2.1", "0:0:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002::7", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:1::", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
])("the address %s is in the network %s", (address, network) => {
  expect(toNetwork(address)).toBe(network);
});

test.each([
  ["192.0.2.7", "192.0.2.7/32"],
  ["192.0.2.7/24", "192.0.2.0/24"],
  ["192.0.2.255/25", "192.0.2.128/25"],
  ["192.0.2.255/31", "192.0.2.254/31"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["::ffff:192.0.2.7", "192.0.2.7/32"],
  ["::ffff:192.0.2.7/128", "192.0.2.7/32"],
  ["::ffff:192.0.2.0/120", "192.0.2.0/24"],
  ["::ffff:c000:200/112", "192.0.0.0/16"],
  ["::ffff:0:0/96", "0.0.0.0/0"],
  ["2001:DB8:1:2:3:4:5:6/64", "2001:db8:1:2::/64"],
  ["2001:db8:ffff::/35", "2001:db8:e000::/35"],
  ["::/0", "::/0"],
])("the network %s is %s", (text, network) => {
  const parsed = parseNetwork(text);
  expect(parsed && networkInText(parsed)).toBe(network);
});

test.each(
  ["", "/24", "192.0.2.0/33", "192.0.2.0/", "192.0.2/24", "192.0.02.1", "192.0.2.256", "2001:db8::1", "::/65"].concat([
    "fe80::1%eth0/64",
    "::]/64",
    "[::]/64",
    "192.0.2.0/24/8",
    "192.0.2.0/-1",
    "example.com",
    "::ffff:192.0.2.7/95",
    "::ffff:192.0.2.7/129",
    "::ffff:10.0.0.0/8",
  ]),
)("%j is no network of a token", (text) => {
  expect(parseNetwork(text)).toBeUndefined();
});

test("an address is in exactly the networks whose prefix it has", () => {
  const isIn = (address: string, network: string): boolean => {
    const bytes = parseNetwork(network);
    return bytes !== undefined && networksAround(address).some((each) => Buffer.compare(each, bytes) === 0);
  };
  expect(networksAround("192.0.2.7")).toHaveLength(33);
  expect(networksAround("2001:db8::7")).toHaveLength(65);
  expect(networksAround("unknown")).toEqual([]);
  for (const network of ["0.0.0.0/0", "192.0.0.0/8", "192.0.2.6/31", "192.0.2.7/32"])
    expect(isIn("192.0.2.7", network)).toBe(true);
  for (const network of ["128.0.0.0/2", "2001:db8::/32", "::/0"]) expect(isIn("10.0.2.7", network)).toBe(false);
  expect(isIn("::ffff:192.0.2.7", "192.0.2.0/24")).toBe(true);
  expect(isIn("2001:db8:0:1:ffff::1", "2001:db8:0:1::/64")).toBe(true);
  expect(isIn("2001:db8:0:2::1", "2001:db8:0:1::/64")).toBe(false);
  expect(isIn("192.0.2.7", "c000:207::/32")).toBe(false);
});
