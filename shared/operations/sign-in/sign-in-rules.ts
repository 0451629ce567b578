// What an account, and the owner of an email's domain, allow of sign-ins: from where, and how.
import { addressNotAllowed, ssoRequired } from "../../api/errors.ts";
import type { SignedInWith } from "../../api/roles.ts";
import { isInNetworks } from "../../domain/network.ts";
import { chooseByEnvironment } from "../../platform/env.ts";
import type { AccountRecord } from "../../records/schemas/account.ts";
import type { SsoRecord } from "../../records/schemas/sso.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { findSsoFor } from "../../records/sso.ts";
import { findUserByEmail } from "../../records/users.ts";

export function requireAllowedAddress({ allowed_ips }: Pick<AccountRecord, "allowed_ips">, ipAddress: string | null): void {
  if (!isAllowedAddress(allowed_ips, ipAddress)) throw addressNotAllowed();
}

/** No networks: everywhere. */
export const isAllowedAddress = (networks: readonly string[], ipAddress: string | null): boolean =>
  networks.length === 0 || (ipAddress !== null && isInNetworks(networks, ipAddress));

/**
 * Throws 403 if people of the email's domain must use single sign-on, whether or not there is such a user; `email` in ASCII.
 * `accountId`: whose user they are, or are to be, if that is known.
 */
export async function requirePasswordAllowed(email: string, accountId?: string): Promise<void> {
  const sso = await findSsoFor(email);
  if (sso?.required !== true) return;
  if (isClosedFor(sso, accountId ?? (await findUserByEmail(email))?.account_id)) throw ssoRequired();
}

/**
 * Whoever has proven that a domain is theirs has its mailboxes, too, whichever account their users are in. In the sandbox anybody
 * can say that of any domain: there it closes nothing for users of other accounts.
 */
const isClosedFor = (sso: SsoRecord, accountId: string | undefined): boolean =>
  chooseByEnvironment({ live: () => true, test: () => accountId === undefined || accountId === sso.account_id });

/**
 * The same for whoever has proven who they are. Owners may use a passkey, for the day when the provider is down: returns whether
 * one does.
 */
export async function requireSignInMethodAllowed(
  { email, role, account_id }: UserRecord,
  signedInWith: SignedInWith,
): Promise<boolean> {
  if (signedInWith === "sso") return false;
  const sso = await findSsoFor(email);
  if (sso?.required !== true || !isClosedFor(sso, account_id)) return false;
  if (signedInWith !== "passkey") throw ssoRequired();
  // Another account's rules are for its own users' passkeys.
  if (sso.account_id !== account_id) return false;
  if (role !== "owner") throw ssoRequired();
  return true;
}
