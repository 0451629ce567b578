// API tokens that were rotated, and whose overlap has ended: they count against the quota no more once there is no other room.
import { serviceAuthor } from "../../records/events.ts";
import { ApiError } from "../../api/errors.ts";
import { allTokens } from "../../records/tokens.ts";
import { revokeAll } from "./tokens-of-users.ts";

/** Makes a token; if the account is full, once more after those that have been replaced are gone. */
export async function withRoomForToken<T>(accountId: string, requestId: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "QUOTA_EXCEEDED")) throw error;
    const now = new Date().toISOString();
    const tokens = await allTokens(accountId);
    const over = tokens.filter(({ replaced_by, expires_at }) => replaced_by !== null && (expires_at ?? now) < now);
    const by = serviceAuthor("API tokens", requestId);
    if ((await revokeAll(by, over)).length === 0) throw error;
    return make();
  }
}
