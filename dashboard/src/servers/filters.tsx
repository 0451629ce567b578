// Filters of the servers by what else is known of them: whether they need a reboot, and creation.
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { CreatedFilter, createdQuery, isCreatedChosen, MoreFilters } from "../resource/created-filter.tsx";
import { FilterSelect } from "../resource/filter-select.tsx";
import type { Narrowing } from "../resource/list-query.ts";
import type { Place } from "../resource/use-place.ts";

/** As the API says it. */
const REBOOTS = { needed: "true", none: "false" } as const;

/** What a link has that is no such filter is left out. */
export const serverQuery = ({ reboot, ...place }: Place): ListQuery => ({
  ...((reboot === "needed" || reboot === "none") && { needs_reboot: REBOOTS[reboot] }),
  ...createdQuery(place),
});

export const ServerFilters: Narrowing["Fields"] = (props) => {
  const { place, go } = props;
  const say = text.servers.filters;
  return (
    <MoreFilters chosen={Boolean(place.reboot) || isCreatedChosen(place)}>
      <FilterSelect
        label={say.label}
        any={say.any}
        options={(["needed", "none"] as const).map((value) => ({ value, label: say.reboots[value] }))}
        value={place.reboot}
        onChange={(reboot) => go({ ...place, page: 1, reboot })}
      />
      <CreatedFilter {...props} />
    </MoreFilters>
  );
};
