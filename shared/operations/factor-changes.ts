// Who is told that second factors were added or removed: the audit log, their user, and whoever else did it.
import type { Change } from "../data/change.ts";
import { type Author, logEvent } from "../records/events.ts";
import { requestMail } from "../records/mails.ts";
import type { FactorRecord } from "../records/schemas/second-factor.ts";
import type { UserRecord } from "../records/schemas/user.ts";

interface FactorChange {
  user: UserRecord;
  type: "added" | "removed";
  factors: readonly FactorRecord[];
  userAgent: string | null;
}

export async function tellOfFactor(change: Change, by: Author, { user, type, factors, userAgent }: FactorChange): Promise<void> {
  if (factors.length === 0) return;
  logEvent(change, by, `second_factor.${type}`, { type: "user", id: user.id, name: user.name });
  const caller = "caller" in by ? by.caller : undefined;
  const facts = {
    factor: factors.map(({ name }) => name).join(", "),
    at: change.at,
    ip_address: caller?.ip_address ?? null,
    user_agent: userAgent,
  };
  const message = type === "added" ? ({ type: "second_factor_added", ...facts } as const) : removed(null, facts);
  await requestMail(change, { to: { user_id: user.id }, message });
  if (type === "removed" && caller !== undefined && caller.id !== user.id)
    await requestMail(change, { to: { user_id: caller.id }, message: removed(user.name, facts) });
}

const removed = <F>(user_name: string | null, facts: F) => ({ type: "second_factor_removed", user_name, ...facts }) as const;
