// Filters of the people by what their list shows: role, second factors, last sign-in, and when they were added.
import type { AccountUser } from "../../../shared/api/users.ts";
import { ROLES } from "../../../shared/api/roles.ts";
import { useMay } from "../app/may.tsx";
import { type ListQuery, users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { isUnused, smallList, UNUSED, unusedIn } from "../resource/list/small-list.ts";
import type { ListState } from "../resource/list/use-list-state.ts";

const NAMES = ["role", "factors", "older"] as const;
const ROLE_ALONE = ["role"] as const;
const FACTORS = ["with", "without"] as const;

/** A service from before there were second factors says nothing of them. */
export const hasFactors = ({ second_factors: of }: Partial<AccountUser>): boolean => of != null && (of.passkeys > 0 || of.totp);

/** Second factors and sign-ins are null together, for all but owners, admins and the user. */
export const showsSignIns = ({ second_factors }: Partial<AccountUser>): boolean => second_factors !== null;

/** What a link has that is no such filter is left out, and what only owners and admins may know for all others. */
const userQuery = (listState: ListState, isAdmin: boolean): ListQuery => ({
  role: ROLES.find((each) => each === listState.role),
  ...(isAdmin && { factors: FACTORS.find((each) => each === listState.factors), older: unusedIn(listState) }),
  ...createdQuery(listState),
});

/** An older service sends none. */
const unicodeOf = ({ email_unicode = "" }: Partial<AccountUser>): string => email_unicode;

export const listUsers = smallList(users.list, {
  textsOf: ({ name, email, ...user }) => [name, email, unicodeOf(user)],
  matches: (user, { role, factors, older }) =>
    (role === undefined || user.role === role) &&
    (showsSignIns(user) || (factors ?? older) === undefined) &&
    (factors === undefined || hasFactors(user) === (factors === "with")) &&
    isUnused(user.last_sign_in_at, older),
});

export const narrowUsers = (isAdmin: boolean): Narrowing => ({
  query: (listState) => userQuery(listState, isAdmin),
  Fields: UserFilters,
  placeholder: text.people.filters.placeholder,
});

const UserFilters: Narrowing["Fields"] = (props) => {
  const say = text.people.filters;
  const names = useMay()("admin") ? NAMES : ROLE_ALONE;
  const options = {
    role: ROLES.map((value) => ({ value, label: text.people.roles[value].name })),
    factors: FACTORS.map((value) => ({ value, label: say.factors[value] })),
    older: UNUSED.map((value) => ({ value, label: say.unused[value] })),
  };
  return (
    <MoreFilters names={names} labels={say.added} {...props}>
      <FilterSelects say={say} names={names} options={options} {...props} />
    </MoreFilters>
  );
};
