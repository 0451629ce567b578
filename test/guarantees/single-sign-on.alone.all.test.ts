// Responses of an identity provider that are changed, swapped, replayed or mixed, against the service as it runs.
import { type CryptoKey, SignJWT } from "jose";
import { expect } from "vitest";
import { examplePeople, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import type { ApiResponse } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { type Callback, come, finish, newTab, NOT_VALID, setUpSso, type Tab } from "../harness/sso.ts";
import { prove } from "./prove.ts";
import { changed, type Random } from "./random.ts";

/** Two texts may be the same bytes, and are the same token then. */
function changedBytes(text: string, random: Random): string {
  const other = changed(text, random);
  return Buffer.from(other, "base64url").equals(Buffer.from(text, "base64url")) ? changedBytes(text, random) : other;
}

interface SignIn {
  tab: Tab;
  callback: Callback;
}

prove("single-sign-on", async () => {
  await ownCloud({ environment: { LOOPBACK_RECEIVERS: "true" } });
  const domain = uniqueDomain();
  let forge = (idToken: string): string => idToken;
  const sign = async (claims: Record<string, unknown>, key: CryptoKey): Promise<string> =>
    forge(await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "1" }).sign(key));
  const { ann, bob } = examplePeople(domain);
  if (ann === undefined || bob === undefined) throw new Error("The example has both");
  const provider = await startIdentityProvider({ clientSecret: "secret", people: { ann: { ...ann, sign }, bob } });
  await setUpSso(await account(), provider, domain);
  const begin = (person: "ann" | "bob"): Promise<SignIn> => come(`${person}@${domain}`, person);

  const kinds: Record<string, (random: Random) => Promise<ApiResponse>> = {
    "a changed state": async (random) => {
      const { tab, callback } = await begin("ann");
      return finish({ ...callback, state: changed(callback.state, random) }, tab);
    },
    "the state of another sign-in": async () => {
      const [ownSignIn, otherSignIn] = [await begin("bob"), await begin("ann")];
      return finish({ ...otherSignIn.callback, state: ownSignIn.callback.state }, ownSignIn.tab);
    },
    "a changed code": async (random) => {
      const { tab, callback } = await begin("ann");
      return finish({ ...callback, code: changed(callback.code, random) }, tab);
    },
    "the code of another sign-in": async () => {
      const [ownSignIn, otherSignIn] = [await begin("bob"), await begin("ann")];
      return finish({ ...ownSignIn.callback, code: otherSignIn.callback.code }, ownSignIn.tab);
    },
    "a changed secret of the tab": async (random) => {
      const { tab, callback } = await begin("ann");
      return finish(callback, { ...tab, secret: changed(tab.secret, random) });
    },
    "another tab": async () => finish((await begin("ann")).callback, newTab()),
    "a used response": async () => {
      const { tab, callback } = await begin("ann");
      expect((await finish(callback, tab)).status).toBe(200);
      return finish(callback, tab);
    },
    "another provider's name": async (random) => {
      const { tab, callback } = await begin("ann");
      return finish({ ...callback, iss: changed(provider.issuer, random) }, tab);
    },
    "a changed ID token": async (random) => {
      forge = (idToken) => {
        const parts = idToken.split(".");
        const at = random.below(parts.length);
        return parts.map((part, i) => (i === at ? changedBytes(part, random) : part)).join(".");
      };
      const { tab, callback } = await begin("ann");
      const response = await finish(callback, tab);
      forge = (idToken) => idToken;
      return response;
    },
  };
  return {
    points: Object.keys(kinds),
    trial: async ({ point, random }) => {
      const attack = kinds[point] ?? expect.fail(`There is no point ${point}`);
      expect((await attack(random)).error, point).toEqual(NOT_VALID);
    },
    finish: async () => {
      const { tab, callback } = await begin("ann");
      expect((await finish(callback, tab)).status, "the right response").toBe(200);
    },
    close: () => provider.stop(),
  };
});
