// Which user a person of the identity provider is, and what the provider says of them.
import * as z from "zod";
import { emailNotVerified, emailTaken, personMismatch, ssoInvalid } from "../../api/errors.ts";
import * as fields from "../../api/fields.ts";
import type { Role } from "../../api/roles.ts";
import { SSO_ROLES } from "../../api/sso.ts";
import { userName } from "../../api/users.ts";
import { retryOnConflict, startChange } from "../../data/change.ts";
import { newId } from "../../domain/ids.ts";
import { getAccount } from "../../records/accounts.ts";
import { changesBetween } from "../../records/audit-changes.ts";
import { type By, logEvent } from "../../records/events.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import type { SsoRecord } from "../../records/schemas/sso.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { claimPerson, findLinked, findVerifiedDomain, requireSameSso } from "../../records/sso.ts";
import { findUserByEmail, reserveUser, setPerson } from "../../records/users.ts";
import { generatePassword } from "../../domain/generated-password.ts";
import { hashPassword } from "../../platform/passwords.ts";
import { removeUnsendable } from "./sent-invitations.ts";
import type { Claims } from "../../platform/oidc.ts";

interface From {
  ipAddress: string | null;
  requestId: string;
}

/** Known by issuer and subject; the first time by the verified email of a verified domain, and only in this account. */
export const findOrAddPerson = (sso: SsoRecord, claims: Claims, from: From): Promise<UserRecord> =>
  retryOnConflict(async () => {
    const linked = await findLinked(sso, claims.sub);
    if (linked !== undefined) return updatePerson(sso, linked, claims, from);
    const email = verifiedEmail(sso, claims);
    const user = await findUserByEmail(email);
    if (user === undefined) return addPerson(sso, email, claims, from);
    if (user.account_id !== sso.account_id) throw emailTaken();
    // The email was another person's before, or is another's now: it does not say who they are any more.
    if (user.sso?.links === sso.links) throw personMismatch();
    return updatePerson(sso, user, claims, from);
  });

const Verified = z.object({ email: fields.emailInput, email_verified: z.literal(true) });

function verifiedEmail(sso: SsoRecord, claims: Claims): string {
  const email = Verified.safeParse(claims).data?.email;
  if (email === undefined || findVerifiedDomain(sso, email) === undefined) throw emailNotVerified();
  return email;
}

/** Returns the role by the claim, if there is one; owners stay owners, and no claim makes one. */
function roleFromClaims(sso: SsoRecord, claims: Claims, current?: Role): Role {
  if (current === "owner") return current;
  const otherwise = SSO_ROLES.find((role) => role === sso.default_role) ?? "viewer";
  if (sso.role_claim === null) return current ?? otherwise;
  const values = [claims[sso.role_claim]].flat().filter((value) => typeof value === "string");
  const roles = values.map((value) => (Object.hasOwn(sso.roles, value) ? sso.roles[value] : undefined));
  return SSO_ROLES.find((role) => roles.includes(role)) ?? otherwise;
}

/** Nobody knows it. Whoever should no longer sign in with single sign-on asks for a link to set one. */
const unknownPassword = (): Promise<string> => hashPassword(generatePassword());

async function addPerson(sso: SsoRecord, email: string, claims: Claims, from: From): Promise<UserRecord> {
  const password_hash = await unknownPassword();
  const change = startChange(await getAccount(sso.account_id));
  const id = newId("user");
  const [mailbox = email] = email.split("@");
  const user = reserveUser(change, {
    id,
    email,
    name: userName.safeParse(claims["name"]).data ?? mailbox,
    password_hash,
    role: roleFromClaims(sso, claims),
    sso: { links: sso.links, subject: claims.sub },
  });
  await claimPerson(change, sso, id, claims.sub);
  requireSameSso(change, sso, ssoInvalid);
  logEvent(change, authorOf(user, from), "user.joined", { type: "user", id, name: user.name });
  await change.commit();
  return user;
}

async function updatePerson(sso: SsoRecord, user: UserRecord, claims: Claims, from: From): Promise<UserRecord> {
  const role = roleFromClaims(sso, claims, user.role);
  const isLinked = user.sso?.links === sso.links;
  if (isLinked && role === user.role) return user;
  const by = authorOf(user, from);
  if (role !== user.role) await removeUnsendable(user, by);
  const change = startChange(await getAccount(sso.account_id));
  const permissions = role === "custom" ? user.permissions : [];
  const updated = setPerson(change, user, { sso: { links: sso.links, subject: claims.sub }, role, permissions });
  if (!isLinked) await claimPerson(change, sso, user.id, claims.sub);
  requireSameSso(change, sso, ssoInvalid);
  // A link to an earlier issuer is none any more.
  const changes = changesBetween({ ...user, sso: isLinked }, { ...updated, sso: true }, ["role", "permissions", "sso"]);
  const type = role === user.role ? "user.update" : "user.role_changed";
  logEvent(change, by, { type, changes }, { type: "user", id: user.id, name: user.name });
  await change.commit();
  if (role !== user.role) await removeUnsendable(updated, by);
  return updated;
}

function authorOf({ account_id, id, name, role }: UserRecord, { ipAddress, requestId }: From): By {
  const caller: Caller = { account_id, type: "user", id, name, permissions: [], role, ip_address: ipAddress };
  return { caller: { ...caller, signed_in_with: "sso" }, requestId };
}
