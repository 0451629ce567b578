// Filters of the people by what their list shows: role, second factors, last sign-in, and when they were added.
import type { AccountUser } from "../../../shared/api/users.ts";
import { ROLES } from "../../../shared/api/roles.ts";
import { type ListQuery, users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/created-filter.tsx";
import { FilterSelects } from "../resource/filter-select.tsx";
import type { Narrowing } from "../resource/list-query.ts";
import { isUnused, smallList, UNUSED, unusedIn } from "../resource/small-list.ts";
import type { Place } from "../resource/use-place.ts";

const NAMES = ["role", "factors", "older"] as const;
const FACTORS = ["with", "without"] as const;

/** A service from before there were second factors says nothing of them. */
export const hasFactors = ({ second_factors: of }: Partial<AccountUser>): boolean => of != null && (of.passkeys > 0 || of.totp);

/** What a link has that is no such filter is left out. */
const userQuery = (place: Place): ListQuery => ({
  role: ROLES.find((each) => each === place.role),
  factors: FACTORS.find((each) => each === place.factors),
  older: unusedIn(place),
  ...createdQuery(place),
});

/** An older service sends none. */
const unicodeOf = ({ email_unicode = "" }: Partial<AccountUser>): string => email_unicode;

export const listUsers = smallList(users.list, {
  textsOf: ({ name, email, ...user }) => [name, email, unicodeOf(user)],
  matches: (user, { role, factors, older }) =>
    (role === undefined || user.role === role) &&
    (factors === undefined || hasFactors(user) === (factors === "with")) &&
    isUnused(user.last_sign_in_at, older),
});

export const narrowUsers = (): Narrowing => ({
  query: userQuery,
  Fields: UserFilters,
  placeholder: text.people.filters.placeholder,
});

const UserFilters: Narrowing["Fields"] = (props) => {
  const say = text.people.filters;
  const options = {
    role: ROLES.map((value) => ({ value, label: text.people.roles[value].name })),
    factors: FACTORS.map((value) => ({ value, label: say.factors[value] })),
    older: UNUSED.map((value) => ({ value, label: say.unused[value] })),
  };
  return (
    <MoreFilters names={NAMES} labels={say.added} {...props}>
      <FilterSelects say={say} names={NAMES} options={options} {...props} />
    </MoreFilters>
  );
};
