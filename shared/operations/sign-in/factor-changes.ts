// Who is told that second factors were added or removed: the audit log, their user, and whoever else did it.
import type { FieldChange } from "../../api/events.ts";
import type { Change } from "../../data/change.ts";
import { type Author, logEvent } from "../../records/events.ts";
import { requestMail } from "../../records/mails.ts";
import type { FactorRecord } from "../../records/schemas/second-factor.ts";
import type { UserRecord } from "../../records/schemas/user.ts";

interface FactorChange {
  user: UserRecord;
  type: "added" | "removed";
  factors: readonly FactorRecord[];
  userAgent: string | null;
}

export async function reportFactorChange(
  change: Change,
  by: Author,
  { user, type, factors, userAgent }: FactorChange,
): Promise<void> {
  if (factors.length === 0) return;
  const changes = factors.map((factor) => toChange(type, factor));
  logEvent(change, by, { type: `second_factor.${type}`, changes }, { type: "user", id: user.id, name: user.name });
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

/**
 * Returns the change that an event shows. There are at most eleven, with names of up to 64 characters: less than the 4 KB that an
 * event has room for.
 */
const toChange = (type: FactorChange["type"], { type: field, name }: FactorRecord): FieldChange =>
  type === "added" ? { field, before: null, after: name } : { field, before: name, after: null };

const removed = <F>(user_name: string | null, facts: F) => ({ type: "second_factor_removed", user_name, ...facts }) as const;
