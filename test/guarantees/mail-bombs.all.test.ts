// Whoever wants to fill somebody's mailbox: links to set a password, and invitations, as many as can be asked for.
import { expect } from "vitest";
import { Invitation } from "../../shared/api/invitations.ts";
import { keys } from "../../shared/data/keys.ts";
import { queryAll } from "../../shared/data/table.ts";
import { INVITATION, PASSWORD_RESET } from "../../shared/domain/limits.ts";
import { MailRecord } from "../../shared/records/schemas/mail.ts";
import { account, unique } from "../harness/account.ts";
import { type ApiResponse, anonymous } from "../harness/client.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const BURST = 12;
const ADMINS = 4;
/** The invitations of each admin: fewer than a session may make in a minute, in all often more than the account may send. */
const INVITATIONS_EACH = 10;

const anywhere = (random: Random): string => `127.${1 + random.below(250)}.${random.below(250)}.${1 + random.below(250)}`;

/** A random spelling of an ASCII name, each of which is the same mailbox to us. */
const spelled = (email: string, random: Random): string =>
  Array.from(email, (letter) => (random.chance(0.5) ? letter.toUpperCase() : letter)).join("");

async function mailsOf(accountId: string, type: string): Promise<MailRecord[]> {
  const mails = await queryAll(keys.mail(accountId, "").pk, { consistent: true });
  return mails.map((item) => MailRecord.parse(item)).filter(({ message }) => message.type === type);
}

const succeeded = (responses: readonly ApiResponse[]): number => responses.filter(({ status }) => status < 300).length;

/** A service that is too busy to decide says so, and then sends nothing. */
const TOO_BUSY = 503;

prove("mail-bombs", async () => {
  const me = await account();

  async function resets(random: Random): Promise<number> {
    const { id, email } = await me.anotherUser();
    const ask = () => anonymous.post("/auth/password-reset", { email: spelled(email, random) }, { from: anywhere(random) });
    for (let wave = 0; wave < 2; wave++) {
      const responses = await Promise.all(Array.from({ length: BURST }, ask));
      for (const { status } of responses) expect([200, TOO_BUSY]).toContain(status);
    }
    const mails = (await mailsOf(me.id, "password_reset")).filter(({ to }) => to.user_id === id);
    expect(mails.length).toBeLessThanOrEqual(PASSWORD_RESET.perHour);
    expect(mails.length).toBeGreaterThan(0);
    return 2 * BURST;
  }

  async function invitations(random: Random): Promise<number> {
    const invitingAccount = await account();
    const sessions = await Promise.all(
      Array.from({ length: ADMINS }, async () => invitingAccount.session(await invitingAccount.anotherUser({ role: "admin" }))),
    );
    const victim = `${unique("victim")}@example.com`;
    const invite = (by: (typeof sessions)[number]) =>
      by.post("/users/invitations", { email: spelled(victim, random), role: "viewer" });
    const each = INVITATIONS_EACH - random.below(5);
    const invited = await Promise.all(sessions.flatMap((session) => Array.from({ length: each }, () => invite(session))));
    const sent = invited.find(({ status }) => status === 201)?.as(Invitation) ?? expect.fail("Somebody can be invited");
    const again = await Promise.all(sessions.map((session) => session.post(`/users/invitations/${sent.id}/resend`, {})));
    const all = [...invited, ...again];
    const mails = await mailsOf(invitingAccount.id, "invitation");
    expect(mails.length).toBe(succeeded(all));
    expect(mails.length).toBeLessThanOrEqual(INVITATION.perDay);
    for (const { status, error } of all)
      if (status === 429) expect(error?.details).toMatchObject({ scope: "invitation", limit: INVITATION.perDay });
      else expect([200, 201, 409, TOO_BUSY]).toContain(status); // 409: another one was sent again meanwhile
    return all.length;
  }

  const ways: Record<string, (random: Random) => Promise<number>> = {
    "links to set a password": resets,
    "links to set a password, again": resets,
    "links to set a password, once more": resets,
    invitations,
  };
  return {
    points: Object.keys(ways),
    trial: async ({ point, random, counts }) => counts(await (ways[point] ?? expect.fail(`There is no point ${point}`))(random)),
  };
});
