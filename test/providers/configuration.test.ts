// What an operator can set, and the errors for mistakes in it.
import { expect, test } from "vitest";
import { parseConfiguration } from "../../shared/platform/configuration.ts";
import { OWN_MACHINE } from "./harness.ts";

test("an empty configuration is valid", () => {
  expect(parseConfiguration("{}")).toMatchObject({ tls: "acme" });
});

test("a machine's SSH port is 22 by default", () => {
  const { port: _, ...machine } = OWN_MACHINE;
  expect(parseConfiguration(JSON.stringify({ byo: { machines: [machine] } })).byo?.machines).toMatchObject([
    { ...machine, port: 22 },
  ]);
});

test.each([
  ["invalid JSON", "secret-token", "it is not JSON"],
  ["an unknown name", JSON.stringify({ hetzer: { token: "secret-token" } }), "the secret as a whole"],
  ["a token that is not a string", JSON.stringify({ hetzner: { token: ["secret-token"] } }), "hetzner.token"],
  [
    "a machine without an address",
    JSON.stringify({ byo: { machines: [{ ...OWN_MACHINE, address: "secret-token" }] } }),
    "address",
  ],
  [
    "two machines with one name",
    JSON.stringify({ byo: { machines: [OWN_MACHINE, { ...OWN_MACHINE, address: "203.0.113.8" }] } }),
    "byo.machines",
  ],
  [
    "one machine with two names",
    JSON.stringify({ byo: { machines: [OWN_MACHINE, { ...OWN_MACHINE, name: "cellar-2" }] } }),
    "byo.machines",
  ],
  ["a source that ignores the version", JSON.stringify({ enterprise_source: "https://secret-token/" }), "enterprise_source"],
])("%s is rejected with its place and without its value", (_, text, place) => {
  const error = (() => {
    try {
      parseConfiguration(text);
    } catch (cause) {
      return String(cause);
    }
    return "nothing";
  })();
  expect(error).toContain(place);
  expect(error).not.toContain("secret-token");
});
