// Filters of the invitations by what their list shows: the role, and when they were sent.
import { ROLES } from "../../../shared/api/roles.ts";
import { invitations, type ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { smallList } from "../resource/list/small-list.ts";
import type { ListState } from "../resource/list/use-list-state.ts";
import { readableEmail } from "./own-email.ts";

const NAMES = ["role"] as const;

/** What a link has that is no such filter is left out. */
const invitationQuery = (listState: ListState): ListQuery => ({
  role: ROLES.find((each) => each === listState.role),
  ...createdQuery(listState),
});

export const listInvitations = smallList(invitations.list, {
  textsOf: (invitation) => [readableEmail(invitation), invitation.email, invitation.invited_by.name],
  matches: (invitation, { role }) => role === undefined || invitation.role === role,
});

export const narrowInvitations = (): Narrowing => ({
  query: invitationQuery,
  Fields: InvitationFilters,
  placeholder: text.people.invitations.filters.placeholder,
});

const InvitationFilters: Narrowing["Fields"] = (props) => {
  const say = text.people.invitations.filters;
  const options = { role: ROLES.map((value) => ({ value, label: text.people.roles[value].name })) };
  return (
    <MoreFilters names={NAMES} labels={say.sent} {...props}>
      <FilterSelects say={say} names={NAMES} options={options} {...props} />
    </MoreFilters>
  );
};
