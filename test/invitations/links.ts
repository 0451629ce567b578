// Links of invitations and who accepts them, for the tests of invitations.
import * as invitations from "../../shared/api/invitations.ts";
import { type TestAccount, unique } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";

export const PASSWORD = "a password of her own";
export const newEmail = (): string => `${unique("invited")}@example.com`;
/** Failed tries count by address. */
let addresses = 10;
export const nextAddress = (): string => `127.0.9.${addresses++}`;

export async function invite(me: TestAccount, by: Client, fields: Record<string, unknown> = {}) {
  const email = newEmail();
  const invitation = (await by.post("/users/invitations", { email, role: "viewer", ...fields })).as(invitations.create().data);
  return { invitation, email, token: await newestLink(me.id, "invitation", email) };
}

export const accept = (token: string, from = nextAddress()) =>
  anonymous.post("/auth/invitations/accept", { token, name: "Ada", password: PASSWORD }, { from });

export const INVALID = {
  success: false,
  error: { code: "UNAUTHORIZED", message: "This link is not valid: it was used, has expired, or a newer one was sent" },
};
