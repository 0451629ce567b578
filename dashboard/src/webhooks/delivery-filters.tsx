// Filters of a webhook's deliveries: by status, the event's type and time.
import { EVENT_TYPES } from "../../../shared/domain/event-types.ts";
import { DELIVERY_STATUSES } from "../../../shared/domain/lifecycle.ts";
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import type { ListState } from "../resource/list/use-list-state.ts";

const NAMES = ["status", "type"] as const;

/** What a link has that is no such filter is left out; a newer service may have more types. */
const deliveryQuery = (listState: ListState): ListQuery => ({
  status: DELIVERY_STATUSES.find((each) => each === listState.status),
  ...(listState.type && { event_type: listState.type }),
  ...createdQuery(listState),
});

const DeliveryFilters: Narrowing["Fields"] = (props) => {
  const say = text.webhooks.deliveries;
  const options = {
    status: DELIVERY_STATUSES.map((value) => ({ value, label: say.statuses[value] })),
    type: Object.keys(EVENT_TYPES)
      .toSorted()
      .map((value) => ({ value, label: value })),
  };
  return (
    <MoreFilters names={NAMES} {...props}>
      <FilterSelects say={say.filters} names={NAMES} options={options} {...props} />
    </MoreFilters>
  );
};

export const NARROW_DELIVERIES: Narrowing = { query: deliveryQuery, Fields: DeliveryFilters };
