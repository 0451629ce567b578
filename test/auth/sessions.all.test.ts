// Sessions and passwords: requests at once, lost responses, wrong passwords, and JWTs that somebody has changed.
import { beforeAll, describe, expect, test } from "vitest";
import { accountRef } from "../../shared/records/accounts.ts";
import { openSession, userAccessRef, userRef } from "../../shared/records/users.ts";
import { find } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { accountIds, createAccount, listEmails } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, type TestUser, unique } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

test("of two accounts with one email at once one is made, and nothing is left of the other", async () => {
  const user = { email: `${unique("same")}@example.com`, name: "Same", password: "correct-horse-battery" };
  const names = [unique("One"), unique("Two")];
  const creations = await Promise.allSettled(names.map((name) => createAccount(name, user)));
  expect(creations.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const accounts = await Promise.all((await accountIds()).map((id) => find(accountRef(id))));
  const ids = accounts.flatMap((each) => (each !== undefined && names.includes(each.account_name) ? [each.id] : []));
  expect(await Promise.all(ids.map((id) => listEmails(id)))).toEqual([[user.email]]);
});

describe("PUT /auth/password", () => {
  const change = (session: Client, user: TestUser, next: string) =>
    session.put("/auth/password", { current_password: user.password, new_password: next });

  test("only one of two concurrent password changes succeeds, and its password is valid", async () => {
    const user = await me.anotherUser();
    const session = await me.session(user);
    const passwords = ["the first new password", "the second new password"];
    const responses = await Promise.all(passwords.map((each) => change(session, user, each)));
    const won = passwords.filter((_, i) => responses[i]?.status === 200);
    const lost = responses.find(({ status }) => status !== 200);
    if (lost !== undefined)
      expect(lost.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "current_password" } });
    const logins = await Promise.all(
      passwords.map((password) => anonymous.post("/auth/login", { email: user.email, password }, { from: "127.0.4.2" })),
    );
    expect(passwords.filter((_, i) => logins[i]?.status === 200)).toEqual(won);
    expect(won).toHaveLength(1);
  });
});

test("a session that was opened, and whose response was lost, is open when it is opened again", async () => {
  const { id } = await me.anotherUser();
  const user = await find(userRef(id));
  if (user === undefined) throw new Error("There is no such user");
  const ids = Array.from({ length: 3 }, () => newId("session"));
  for (const each of ids) await openSession(user, each, 2);
  expect(await openSession(user, ids[2] ?? "", 2)).toBe(true);
  expect((await find(userAccessRef(id)))?.sessions).toHaveProperty("size", 2);
});

describe("a wrong current password", () => {
  test("a wrong current password counts as a failed sign-in: the eleventh try from that address is locked out, and so is signing in", async () => {
    const user = await me.anotherUser();
    const from = "127.0.4.9";
    const session = await me.session(user);
    const ask = (current_password: string) =>
      session.put("/auth/password", { current_password, new_password: "a new long password" }, { from });
    for (let i = 0; i < 10; i++) expect((await ask("wrong")).error?.details?.["field"]).toBe("current_password");
    const rejected = await ask(user.password);
    expect(rejected.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { scope: "login" } });
    expect((await anonymous.post("/auth/login", { email: user.email, password: user.password }, { from })).status).toBe(429);
    const elsewhere = { from: "127.0.4.10" };
    const response = await session.put(
      "/auth/password",
      { current_password: user.password, new_password: "a new long password" },
      elsewhere,
    );
    expect(response.status).toBe(200);
  });
});

describe("the JWT", () => {
  let jwt = "";
  let user: TestUser;
  beforeAll(async () => {
    user = await me.anotherUser();
    jwt = (await me.session(user)).token ?? "";
  });
  const status = async (token: string) => (await anonymous.get("/auth/me", { token })).status;

  test("a JWT with something appended, cut off or repeated is invalid", async () => {
    for (const text of [
      `${jwt}A`,
      `${jwt}.`,
      `${jwt}=`,
      jwt.slice(0, -1),
      `.${jwt}`,
      jwt.split(".").slice(0, 2).join("."),
      `${jwt}.${jwt}`,
    ])
      expect(await status(text), text).toBe(401);
  });

  test("a JWT with a different last character in any part is invalid, even if it decodes to the same bytes", async () => {
    const parts = jwt.split(".");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const changed = parts.flatMap((part, place) =>
      Array.from(alphabet, (last) => parts.with(place, part.slice(0, -1) + last).join(".")).filter((text) => text !== jwt),
    );
    expect(changed).toHaveLength(3 * 63);
    for (let from = 0; from < changed.length; from += 50) {
      const statuses = await Promise.all(changed.slice(from, from + 50).map(status));
      expect(statuses).toEqual(statuses.map(() => 401));
    }
  });
});
