// Links to set a password: used at once, sent too often, and what else they show.
import { beforeAll, expect, test } from "vitest";
import { find } from "../../shared/data/table.ts";
import { clearBouncingMailbox, resetPassword } from "../../shared/operations/accounts/operator.ts";
import { markMailboxBouncing, userRef } from "../../shared/records/users.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { statusesOf } from "../harness/client.ts";
import { newestLink, newestMail } from "../harness/links.ts";
import { ask, confirm, INVALID, linkFor } from "./resets.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

test("a link that is used shows that the mailbox takes mail again, one that is not valid does not", async () => {
  const user = await me.anotherUser();
  const status = async () => (await find(userRef(user.id)))?.email_status;
  await markMailboxBouncing(user.email);
  const [older, newer] = [await linkFor(me.id, user), await linkFor(me.id, user)];
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
  const token = await linkFor(me.id, await me.anotherUser());
  expect(statusesOf(await Promise.all([confirm(token), confirm(token)]))).toEqual([200, 401]);
});

test("so does one that the operator sets, of which the user is told", async () => {
  const user = await me.anotherUser();
  const token = await linkFor(me.id, user);
  await resetPassword(user.email, "a password of the operator's");
  expect((await confirm(token)).error).toEqual(INVALID);
  expect(await newestMail(me.id, "password_changed", user.id)).toMatchObject({ ip_address: null });
});

test("an address is sent three links an hour, and told nothing of it", async () => {
  const user = await me.anotherUser();
  for (let i = 0; i < 3; i++) await linkFor(me.id, user);
  const third = await newestLink(me.id, "password_reset", user.id);
  expect((await ask(user.email)).status).toBe(200);
  expect(await newestLink(me.id, "password_reset", user.id)).toBe(third);
});
