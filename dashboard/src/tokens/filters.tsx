// Filters of the API keys by what their list shows: a permission, last use, the end and creation.
import type { Token } from "../../../shared/api/tokens.ts";
import { ALL_PERMISSIONS } from "../../../shared/api/permissions.ts";
import { type ListQuery, tokens } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { isUnused, smallList, UNUSED, unusedIn } from "../resource/list/small-list.ts";
import type { ListState } from "../resource/list/use-list-state.ts";
import { serviceNow } from "../session/clock.ts";
import { DAY_MS } from "../../../shared/domain/durations.ts";

const NAMES = ["permission", "older", "expires"] as const;
const ENDS = ["never", "soon", "expired"] as const;
const SOON_MS = 30 * DAY_MS;

/** What a link has that is no such filter is left out. */
const tokenQuery = (listState: ListState): ListQuery => ({
  permission: ALL_PERMISSIONS.find((each) => each === listState.permission),
  older: unusedIn(listState),
  expires: ENDS.find((each) => each === listState.expires),
  ...createdQuery(listState),
});

function endsAs({ expires_at }: Token, end: ListQuery[string]): boolean {
  if (end === undefined || expires_at === null) return end === undefined || end === "never";
  const remainingMs = Date.parse(expires_at) - serviceNow();
  return end === "expired" ? remainingMs <= 0 : end === "soon" && remainingMs > 0 && remainingMs < SOON_MS;
}

/** An older service sends none. */
const networksOf = ({ allowed_ips = [] }: Partial<Token>): string[] => allowed_ips;

export const listTokens = smallList(tokens.list, {
  textsOf: ({ name, last4, created_by, last_used_ip, ...token }) => [
    name,
    last4,
    created_by.name,
    last_used_ip ?? "",
    ...networksOf(token),
  ],
  matches: (token, { permission, older, expires }) =>
    (permission === undefined || token.permissions.some((each) => each === permission)) &&
    isUnused(token.last_used_at, older) &&
    endsAs(token, expires),
});

export const narrowTokens = (): Narrowing => ({
  query: tokenQuery,
  Fields: TokenFilters,
  placeholder: text.tokens.filters.placeholder,
});

const TokenFilters: Narrowing["Fields"] = (props) => {
  const say = text.tokens.filters;
  const options = {
    permission: ALL_PERMISSIONS.map((value) => ({ value, label: text.app.permissions.names[value] })),
    older: UNUSED.map((value) => ({ value, label: say.unused[value] })),
    expires: ENDS.map((value) => ({ value, label: say.ends[value] })),
  };
  return (
    <MoreFilters names={NAMES} {...props}>
      <FilterSelects say={say} names={NAMES} options={options} {...props} />
    </MoreFilters>
  );
};
