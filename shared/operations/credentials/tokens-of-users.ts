// The API tokens that a user has created: they are the account's, and stay when the user goes, unless they are revoked.
import { ApiError } from "../../api/errors.ts";
import { type Change, retryOnConflict, startChange } from "../../data/change.ts";
import { getAccount } from "../../records/accounts.ts";
import { type Author, logEvent } from "../../records/events.ts";
import type { TokenRecord } from "../../records/schemas/token.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { allTokens, getToken, revokeToken } from "../../records/tokens.ts";

export const tokensBy = async ({ id, account_id }: Pick<UserRecord, "id" | "account_id">): Promise<TokenRecord[]> =>
  (await allTokens(account_id)).filter(({ created_by }) => created_by.id === id);

/** Expired tokens stay listed, but nobody needs a warning about them. */
export const isUsable = ({ expires_at }: TokenRecord): boolean => expires_at === null || Date.parse(expires_at) > Date.now();

/**
 * One after the other: one transaction does not hold all that an account may have. `also` is checked with each. Returns those
 * that it revoked itself.
 */
export async function revokeAll(
  by: Author,
  tokens: readonly TokenRecord[],
  also: (change: Change) => void = () => undefined,
): Promise<TokenRecord[]> {
  const revoked: TokenRecord[] = [];
  for (const token of tokens) {
    try {
      await retryOnConflict(() => revoke(by, token, also));
      revoked.push(token);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "NOT_FOUND")) throw error; // somebody else was faster
    }
  }
  return revoked;
}

async function revoke(by: Author, { account_id, id }: TokenRecord, also: (change: Change) => void): Promise<void> {
  const token = await getToken(account_id, id);
  const change = startChange(await getAccount(account_id));
  also(change);
  revokeToken(change, token);
  logEvent(change, by, "token.delete", { type: "token", id, name: token.name });
  await change.commit();
}
