// Who must have a second factor: the account says it, by their roles.
import { hasRole } from "../../api/roles.ts";
import type { AccountRecord } from "../../records/schemas/account.ts";
import type { UserRecord } from "../../records/schemas/user.ts";

export const needsSecondFactor = (
  { require_second_factor: of }: Pick<AccountRecord, "require_second_factor">,
  { role }: Pick<UserRecord, "role">,
): boolean => of === "all" || (of === "admins" && hasRole(role, "admin"));
