// Filters of the webhooks by what their list shows: status, last delivery and creation.
import { type ListQuery, webhooks } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { isUnused, smallList, UNUSED, unusedIn } from "../resource/list/small-list.ts";
import type { ListState } from "../resource/list/use-list-state.ts";

const NAMES = ["status", "older"] as const;
const STATUSES = ["ok", "failing", "disabled"] as const;

/** What a link has that is no such filter is left out. */
const webhookQuery = (listState: ListState): ListQuery => ({
  status: STATUSES.find((each) => each === listState.status),
  older: unusedIn(listState),
  ...createdQuery(listState),
});

export const listWebhooks = smallList(webhooks.list, {
  textsOf: ({ name, url, events }) => [name, url, ...events],
  matches: (webhook, { status, older }) =>
    (status === undefined || webhook.status === status) && isUnused(webhook.last_delivery_at, older),
});

export const narrowWebhooks = (): Narrowing => ({
  query: webhookQuery,
  Fields: WebhookFilters,
  placeholder: text.webhooks.filters.placeholder,
});

const WebhookFilters: Narrowing["Fields"] = (props) => {
  const say = text.webhooks.filters;
  const options = {
    status: STATUSES.map((value) => ({ value, label: text.webhooks.statuses[value] })),
    older: UNUSED.map((value) => ({ value, label: say.unused[value] })),
  };
  return (
    <MoreFilters names={NAMES} {...props}>
      <FilterSelects say={say} names={NAMES} options={options} {...props} />
    </MoreFilters>
  );
};
