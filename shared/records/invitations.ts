// Invitations to an account: until somebody accepts one, it is withdrawn, it expires, or its sender may not send it any more.
import { linkInvalid, notFound } from "../api/errors.ts";
import { Invitation } from "../api/invitations.ts";
import { listPermissions } from "../api/roles.ts";
import { type Change, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, queryAll, type Ref, removeOne } from "../data/table.ts";
import { computeVersion, type Version } from "../data/versions.ts";
import { DAY_MS } from "../domain/durations.ts";
import { newId } from "../domain/ids.ts";
import { INVITATION } from "../domain/limits.ts";
import { unicodeEmail } from "./unicode-names.ts";
import { hashLink, idsInLink, matchesLink, newLinkToken } from "../domain/link-token.ts";
import type { Caller } from "./schemas/caller.ts";
import { InvitationRecord } from "./schemas/invitation.ts";

export const invitationRef = (accountId: string, id: string): Ref<InvitationRecord> => ({
  key: keys.invitation(accountId, id),
  schema: InvitationRecord,
});

/** Those that have not expired. */
export async function allInvitations(accountId: string): Promise<InvitationRecord[]> {
  const all = parseEach(InvitationRecord, await queryAll(keys.invitations(accountId), { consistent: true }));
  return all.filter(isInTime);
}

/** The table removes what has expired, but not at once. */
const isInTime = ({ expires_at }: InvitationRecord): boolean => Date.parse(expires_at) > Date.now();

/** Nobody can accept an invitation of somebody who is a user by now, by another one or by single sign-on. */
export const isForUser = (invitation: InvitationRecord, { email }: { email: string }): boolean =>
  invitation.email.toLowerCase() === email.toLowerCase();

export function requireInvitation(invitation: InvitationRecord | undefined): InvitationRecord {
  if (invitation === undefined || !isInTime(invitation)) throw notFound("invitation");
  return invitation;
}

export const showInvitation = (invitation: InvitationRecord): Invitation => ({
  ...invitation,
  email_unicode: unicodeEmail(invitation.email),
  permissions: [...listPermissions(invitation)],
});

export const invitationVersion = (invitation: InvitationRecord): Version =>
  computeVersion(invitationRef(invitation.account_id, invitation.id), invitation, {
    publicSchema: Invitation,
    unversioned: ["email_unicode"],
  });

/** The token of the link is only here, and in the mail. */
export function reserveInvitation(
  change: Change,
  by: Caller,
  draft: Pick<InvitationRecord, "email" | "role" | "permissions">,
): { invitation: InvitationRecord; token: string } {
  const id = newId("invitation");
  const { token, ...link } = newLink(change, by, id);
  const invitation = { ...draft, id, account_id: change.accountId, ...link, created_at: change.at };
  change.put(invitationRef(change.accountId, id).key, invitation);
  return { invitation, token };
}

/** Sends another link, with which the one before stops working. Whoever sends it is the one who invites. */
export function renewInvitation(
  change: Change,
  by: Caller,
  invitation: InvitationRecord,
): { invitation: InvitationRecord; token: string } {
  const { token, ...link } = newLink(change, by, invitation.id);
  change.update(
    invitationRef(change.accountId, invitation.id).key,
    { set: link },
    { equals: { link_hash: invitation.link_hash } },
    (current) => (current === undefined ? notFound("invitation") : sentAgain(invitation.id)),
  );
  return { invitation: { ...invitation, ...link }, token };
}

const sentAgain = (id: string): Error => new Overtaken("Another request sent this invitation at the same time; try again", id);

function newLink(change: Change, by: Caller, id: string) {
  const token = newLinkToken(change.accountId, id);
  const expires = Date.parse(change.at) + INVITATION.days * DAY_MS;
  return {
    token,
    link_hash: hashLink(token),
    invited_by: { type: "user" as const, id: by.id, name: by.name ?? by.id },
    expires_at: new Date(expires).toISOString(),
    ttl: Math.ceil(expires / 1000),
  };
}

/** The invitation of a link; throws 401 if there is none, or none any more. */
export async function invitationOfLink(token: string): Promise<InvitationRecord> {
  const [accountId, id] = idsInLink(token, "account", "invitation") ?? [];
  const invitation = accountId !== undefined && id !== undefined ? await find(invitationRef(accountId, id)) : undefined;
  if (invitation === undefined || !isInTime(invitation) || !matchesLink(invitation.link_hash, token)) throw linkInvalid();
  return invitation;
}

/** With all else that goes with a user, these are fewer writes than the 100 of a transaction. */
const REMOVED_WITH_USER = 60;

/**
 * Removes the invitations of a user with the user, whom another link would let in again. Those for which the change has no room
 * are removed before: nobody can accept them as long as the user is there.
 */
export async function removeInvitationsOf(change: Change, user: { email: string }): Promise<void> {
  const invitations = (await allInvitations(change.accountId)).filter((invitation) => isForUser(invitation, user));
  const refs = invitations.map(({ id }) => invitationRef(change.accountId, id));
  await Promise.all(refs.slice(REMOVED_WITH_USER).map(({ key }) => removeOne(key)));
  for (const { key } of refs.slice(0, REMOVED_WITH_USER)) change.remove(key);
}

/** Ends an invitation, once: by withdrawal, or because it was accepted. */
export const removeInvitation = (change: Change, { id, link_hash }: InvitationRecord, otherwise: () => Error): void =>
  change.remove(invitationRef(change.accountId, id).key, { equals: { link_hash } }, otherwise);
