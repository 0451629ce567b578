// POST /auth/login, when many sign in or guess: how long it takes, and who is locked out.
import { beforeAll, describe, expect, test } from "vitest";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { statusesOf, anonymous } from "../harness/client.ts";
import { LOGIN_FAILURES } from "../../shared/domain/limits.ts";
import { newestLink } from "../harness/links.ts";
import { bodyOf, openRoutes } from "../harness/requests.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

// Failed sign-ins count by source address, so every test has its own.
let addresses = 10;
const nextAddress = (): string => `127.0.6.${addresses++}`;

const login = (email: string, password: string, from: string) => anonymous.post("/auth/login", { email, password }, { from });

test("a wrong password and an unknown email take the same time", async () => {
  const time = async (email: string, from: string) => {
    const began = performance.now();
    await login(email, "not the password", from);
    return performance.now() - began;
  };
  await time("warm@example.com", nextAddress());
  // The fastest of several in turn: whatever else runs on the machine makes some of them slower, and none faster.
  const fastest = { known: Infinity, unknown: Infinity };
  const ratio = () => Math.max(...Object.values(fastest)) / Math.min(...Object.values(fastest));
  for (let round = 0; round < 5 && !(ratio() < 2); round++) {
    const from = nextAddress();
    for (let i = 0; i < 9; i++) {
      fastest.known = Math.min(fastest.known, await time(me.user.email, from));
      fastest.unknown = Math.min(fastest.unknown, await time("nobody-else@example.com", from));
    }
  }
  // Without a password to compare, the response for an unknown email would take a quarter of the time.
  expect(ratio()).toBeLessThan(2);
});

describe("failures in fifteen minutes", () => {
  /**
   * Exactly as many as allowed; fewer, if the machine was too busy for some: those may have been counted, and got an error that
   * says to retry.
   */
  function expectGuesses(statuses: readonly number[], allowed: number): void {
    const [guessed = 0, locked = 0, unserved = 0] = [401, 429, 503].map(
      (each) => statuses.filter((status) => status === each).length,
    );
    expect(guessed).toBeLessThanOrEqual(allowed);
    expect(guessed + unserved).toBeGreaterThanOrEqual(allowed);
    expect(guessed + unserved + locked).toBe(statuses.length);
  }

  test("fifty failed sign-ins lock out an address for every email, and no other address", async () => {
    const attacker = nextAddress();
    const statuses: number[] = [];
    const guess = async () => void statuses.push((await login(`${unique("victim")}@example.com`, "guess", attacker)).status);
    while (!statuses.includes(429) && statuses.length < 200) await Promise.all(Array.from({ length: 20 }, guess));
    expectGuesses(statuses, 50);
    const rejected = await login(me.user.email, me.user.password, attacker);
    expect(rejected.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 50, scope: "login" } });
    expect((await login(me.user.email, me.user.password, nextAddress())).status).toBe(200);
  });

  test("close every other way to sign in from that address, too", async () => {
    const attacker = nextAddress();
    while ((await login(`${unique("victim")}@example.com`, "guess", attacker)).status !== 429);
    for (const route of openRoutes.filter(({ path }) => path.startsWith("/auth/"))) {
      const { error } = await anonymous.send(route.method, route.path, bodyOf(route), { from: attacker });
      expect(error, route.title).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 50, scope: "login" } });
    }
  });

  test("of links that name nobody count by the address alone: the eleventh that is not valid locks nobody out", async () => {
    const from = nextAddress();
    const bodies = {
      "/auth/invitations/accept": { name: "Ada", password: me.user.password },
      "/auth/password-reset/confirm": { new_password: me.user.password },
    };
    const token = "A".repeat(75);
    for (const [path, body] of Object.entries(bodies))
      for (let i = 0; i <= LOGIN_FAILURES.pair; i++)
        expect((await anonymous.post(path, { token, ...body }, { from })).status, path).toBe(401);
    const proof = { challenge: "A".repeat(40), method: "totp", code: "123456" };
    for (let i = 0; i <= LOGIN_FAILURES.pair; i++)
      expect((await anonymous.post("/auth/login/second-factor", proof, { from })).status).toBe(401);
  });

  test("are given back to whoever sets a password by a link, of their email and their address", async () => {
    const user = await me.anotherUser();
    const [from, elsewhere] = [nextAddress(), nextAddress()];
    for (const address of [from, elsewhere])
      for (let i = 1; i < LOGIN_FAILURES.pair; i++) await login(user.email, "guess", address);
    expect((await anonymous.post("/auth/password-reset", { email: user.email }, { from })).status).toBe(200);
    expect((await login(user.email, user.password, from)).status).toBe(429);
    const body = { token: await newestLink(me.id, "password_reset", user.id), new_password: "another long password" };
    expect((await anonymous.post("/auth/password-reset/confirm", body, { from })).status).toBe(200);
    expect((await login(user.email, body.new_password, from)).status).toBe(200);
    expect((await login(user.email, "guess", elsewhere)).status).toBe(401);
    expect((await login(user.email, body.new_password, elsewhere)).status).toBe(429);
  });

  test("thirty concurrent password guesses get only ten tries", async () => {
    const user = await me.anotherUser();
    const from = nextAddress();
    const responses = await Promise.all(Array.from({ length: 30 }, () => login(user.email, "guess", from)));
    expectGuesses(statusesOf(responses), 10);
  });

  test("successful sign-ins never lock anyone out, even many at once", async () => {
    const user = await me.anotherUser();
    const from = nextAddress();
    for (let i = 0; i < 15; i++) expect((await login(user.email, user.password, from)).status).toBe(200);
  });
});
