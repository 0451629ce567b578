// Emails of users and of nobody, wherever somebody can send one: the same response, the same calls of the database, and the same
// time.
import { expect } from "vitest";
import * as z from "zod";
import { examplePeople, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import { keys } from "../../shared/data/keys.ts";
import { removeOne } from "../../shared/data/table.ts";
import { PASSWORD_RESET } from "../../shared/domain/limits.ts";
import { createUser } from "../../shared/operations/accounts/operator.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { type ApiResponse, anonymous } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { newAddress, setUpApp } from "../harness/second-factors.ts";
import { seedSso } from "../harness/seed.ts";
import { newTab, setUpSso } from "../harness/sso.ts";
import { bare, expectSameTime, observed } from "./observed.ts";
import { isFullSize, prove } from "./prove.ts";

interface Way {
  ask: (email: string) => Promise<ApiResponse>;
  /** That of a user. */
  knownEmail: string;
  /** What each request begins with. */
  before?: (email: string) => Promise<unknown>;
  /** The response has random values, all of one length. */
  isRandom?: true;
  /** An account has a limit that 500 tries are beyond. */
  isUntimed?: true;
}

/** Tries for each of the two medians. */
const TIMED = isFullSize ? 500 : 0;

const Key = z.object({ pk: z.object({ S: z.string() }), sk: z.object({ S: z.string() }) });
const Written = z.object({
  TransactItems: z.array(z.record(z.string(), z.object({ Key: Key.optional(), Item: Key.optional() }))),
});

prove("enumeration", async () => {
  const cloud = await ownCloud({ timeScale: 0, environment: { LOOPBACK_RECEIVERS: "true" } });
  const [openAccount, closedAccount] = [await account(), await account()];
  const [open, closed] = [uniqueDomain(), uniqueDomain()];
  const provider = await startIdentityProvider({ clientSecret: "secret-of-the-test", people: examplePeople(open) });
  await setUpSso(openAccount, provider, open);
  await seedSso(closedAccount.id, { domains: [{ name: closed, proof: "p", verified: true }], required: true });
  const userAt = (domain: string) =>
    createUser(closedAccount.id, { email: `known@${domain}`, name: "Known", password: "a long password" });
  const [plain, careful] = [await closedAccount.anotherUser(), await closedAccount.anotherUser()];
  await setUpApp(await closedAccount.session(careful));
  const [admitted, required] = [await userAt(open), await userAt(closed)];

  const send = (path: string, body: Record<string, unknown>): Promise<ApiResponse> =>
    anonymous.post(path, body, { from: newAddress(), headers: { "x-request-id": "same" } });
  const signIn = (email: string) => send("/auth/login", { email, password: "not the password" });
  const reset = (email: string) => send("/auth/password-reset", { email });
  const forget = (email: string) => removeOne(keys.mailLimit("password_reset", email));
  const inviter = await openAccount.session();
  const ways: Record<string, Way> = {
    "POST /auth/login": { ask: signIn, knownEmail: plain.email },
    "POST /auth/login, of a user with a second factor": { ask: signIn, knownEmail: careful.email },
    "POST /auth/login, where single sign-on is required": { ask: signIn, knownEmail: required.email },
    "POST /auth/password-reset": { ask: reset, knownEmail: plain.email, before: forget },
    "POST /auth/password-reset, too often": {
      ask: reset,
      knownEmail: careful.email,
      before: async (email) => {
        await forget(email);
        for (let i = 0; i < PASSWORD_RESET.perHour; i++) await reset(email);
      },
      isUntimed: true,
    },
    "POST /auth/password-reset, where single sign-on is required": { ask: reset, knownEmail: required.email },
    "POST /auth/sso/start": {
      ask: (email) => send("/auth/sso/start", { email, browser_challenge: newTab().challenge }),
      knownEmail: admitted.email,
      isRandom: true,
    },
    "POST /users/invitations": {
      ask: (email) => inviter.post("/users/invitations", { email, role: "viewer" }),
      knownEmail: plain.email,
      isRandom: true,
      isUntimed: true,
    },
  };

  /** The items that a request for a link writes. */
  async function itemsWritten(email: string): Promise<string[]> {
    const inputs: unknown[] = [];
    const stop = cloud.aws.intercept(async (call, next) => {
      if (call.action === "TransactWriteItems") inputs.push(await call.input());
      return next(call);
    });
    await reset(email);
    stop();
    return z
      .array(Written)
      .parse(inputs)
      .flatMap(({ TransactItems }) => TransactItems.flatMap((each) => Object.values(each)))
      .map(({ Key: key, Item: item }) => JSON.stringify([(key ?? item)?.pk.S, (key ?? item)?.sk.S]));
  }

  return {
    points: Object.keys(ways),
    trial: async ({ point, counts }) => {
      const { ask, knownEmail, before, isRandom, isUntimed } = ways[point] ?? expect.fail(`There is no point ${point}`);
      const unknownEmail = `0${knownEmail.slice(1)}`; // as long
      const prepare = (email: string) => async () => {
        await before?.(email);
        return () => ask(email);
      };
      // The first request of a container may look at more than later ones, and a limit that nobody has used is made first.
      for (const email of [unknownEmail, knownEmail]) await (await prepare(email)())();
      const [askUnknown, askKnown] = [await prepare(unknownEmail)(), await prepare(knownEmail)()];
      const [unknown, user] = [await observed(cloud, askUnknown), await observed(cloud, askKnown)];
      const comparable = (response: ApiResponse) => ({
        ...bare(response),
        ...(isRandom === true && { text: response.text.length }),
      });
      expect(comparable(user.response), point).toEqual(comparable(unknown.response));
      expect(user.calls, point).toEqual(unknown.calls);
      if (TIMED === 0 || isUntimed === true) return;
      await expectSameTime(point, TIMED, [prepare(unknownEmail), prepare(knownEmail)]);
      counts(2 * TIMED);
    },
    // Two requests that write the same item wait for each other: those of one email do, whether or not it has a user, and those
    // of two never do.
    finish: async () => {
      const [one, other] = [await itemsWritten(`one@${uniqueDomain()}`), await itemsWritten(`other@${uniqueDomain()}`)];
      expect(one.length).toBeGreaterThan(1);
      expect(other.filter((item) => one.includes(item))).toEqual([]);
      const { email } = await closedAccount.anotherUser();
      for (const address of [email, `nobody@${uniqueDomain()}`]) {
        const [first, second] = [await itemsWritten(address), await itemsWritten(address.toUpperCase())];
        expect(
          second.filter((item) => first.includes(item)),
          address,
        ).toHaveLength(1);
      }
    },
    close: () => provider.stop(),
  };
});
