// What an operator can set, and how a mistake in it is told.
import { expect, test } from "vitest";
import { parseConfiguration } from "../../shared/platform/configuration.ts";
import { OWN_MACHINE } from "./harness.ts";

test("nothing set is fine", () => {
  expect(parseConfiguration("{}")).toEqual({ tls: "acme" });
});

test("a machine's SSH port is 22 by default", () => {
  const { port: _, ...machine } = OWN_MACHINE;
  expect(parseConfiguration(JSON.stringify({ byo: { machines: [machine] } })).byo?.machines).toMatchObject([
    { ...machine, port: 22 },
  ]);
});

test.each([
  ["text that is no JSON", "secret-token", "it is not JSON"],
  ["a name that is not known", JSON.stringify({ hetzer: { token: "secret-token" } }), "the secret as a whole"],
  ["a token that is no text", JSON.stringify({ hetzner: { token: ["secret-token"] } }), "hetzner.token"],
  [
    "a machine without an address",
    JSON.stringify({ byo: { machines: [{ ...OWN_MACHINE, address: "secret-token" }] } }),
    "address",
  ],
  [
    "two machines of one name",
    JSON.stringify({ byo: { machines: [OWN_MACHINE, { ...OWN_MACHINE, address: "203.0.113.8" }] } }),
    "byo.machines",
  ],
  [
    "a machine under two names",
    JSON.stringify({ byo: { machines: [OWN_MACHINE, { ...OWN_MACHINE, name: "cellar-2" }] } }),
    "byo.machines",
  ],
  [
    "a source that is the same for every version",
    JSON.stringify({ enterprise_source: "https://secret-token/" }),
    "enterprise_source",
  ],
])("%s is refused with its place and without its value", (_, text, place) => {
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
