// Mails that were requested, and the tokens of the links that they carry, as whoever gets them reads them.
import { queryAll } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { unseal } from "../../shared/platform/sealing.ts";
import { MailRecord } from "../../shared/records/schemas/mail.ts";

/** The newest mail of a type that an account has requested, for an email or a user. */
async function newestOf(accountId: string, type: string, to: string): Promise<MailRecord | undefined> {
  const mails = (await queryAll(keys.mail(accountId, "").pk, { consistent: true })).map((item) => MailRecord.parse(item));
  const [newest] = mails
    .filter(({ message, to: { email, user_id } }) => message.type === type && (email === to || user_id === to))
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return newest;
}

/** What it says; undefined if there is none. */
export const newestMail = async (accountId: string, type: string, to: string): Promise<MailRecord["message"] | undefined> =>
  (await newestOf(accountId, type, to))?.message;

/** The token in it. */
export async function newestLink(accountId: string, type: string, to: string): Promise<string> {
  const newest = await newestOf(accountId, type, to);
  if (newest?.sealed_token === undefined) throw new Error(`There is no mail of type ${type} with a token for ${to}`);
  return unseal(newest.sealed_token, `mail ${newest.id}`);
}
