// Links to set a password: used at once, sent too often, and what else they show.
import { beforeAll, expect, test } from "vitest";
import { find } from "../../shared/data/table.ts";
import { clearBouncingMailbox, resetPassword } from "../../shared/operations/accounts/operator.ts";
import { markMailboxBouncing, userRef } from "../../shared/records/users.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { statusesOf, anonymous } from "../harness/client.ts";
import { newestLink, newestMail } from "../harness/links.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

let addresses = 10;
const nextAddress = (): string => `127.0.8.${addresses++}`;
const NEXT = "another long password";

const ask = (email: string) => anonymous.post("/auth/password-reset", { email }, { from: nextAddress() });
const confirm = (token: string, new_password = NEXT) =>
  anonymous.post("/auth/password-reset/confirm", { token, new_password }, { from: nextAddress() });
const linkFor = async (user: { id: string; email: string }): Promise<string> => {
  expect((await ask(user.email)).status).toBe(200);
  return newestLink(me.id, "password_reset", user.id);
};
const INVALID = { code: "UNAUTHORIZED", message: "This link is not valid: it was used, has expired, or a newer one was sent" };

test("a link that is used shows that the mailbox takes mail again, one that is not valid does not", async () => {
  const user = await me.anotherUser();
  const status = async () => (await find(userRef(user.id)))?.email_status;
  await markMailboxBouncing(user.email);
  const [older, newer] = [await linkFor(user), await linkFor(user)];
  await confirm(older);
  expect(await status()).toBe("bouncing");
  await confirm(newer);
  expect(await status()).toBe("ok");
});

test("the operator says that the mailbox of a user works again who can use no link", async () => {
  const user = await me.anotherUser();
  await markMailboxBouncing(user.email);
  await clearBouncingMailbox(user.email);
  expect((await find(userRef(user.id)))?.email_status).toBe("ok");
  await expect(clearBouncingMailbox(`nobody-${user.email}`)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("of two uses of a link at once one succeeds", async () => {
  const token = await linkFor(await me.anotherUser());
  expect(statusesOf(await Promise.all([confirm(token), confirm(token)]))).toEqual([200, 401]);
});

test("so does one that the operator sets, of which the user is told", async () => {
  const user = await me.anotherUser();
  const token = await linkFor(user);
  await resetPassword(user.email, "a password of the operator's");
  expect((await confirm(token)).error).toEqual(INVALID);
  expect(await newestMail(me.id, "password_changed", user.id)).toMatchObject({ ip_address: null });
});

test("an address is sent three links an hour, and told nothing of it", async () => {
  const user = await me.anotherUser();
  for (let i = 0; i < 3; i++) await linkFor(user);
  const third = await newestLink(me.id, "password_reset", user.id);
  expect((await ask(user.email)).status).toBe(200);
  expect(await newestLink(me.id, "password_reset", user.id)).toBe(third);
});
