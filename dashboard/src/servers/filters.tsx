// Filters of the servers by what else is known of them: provider, region, size, whether they need a reboot, and creation.
import { useQuery } from "@tanstack/react-query";
import { catalog, type ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/created-filter.tsx";
import { FilterSelects } from "../resource/filter-select.tsx";
import type { Narrowing } from "../resource/list-query.ts";
import type { Place } from "../resource/use-place.ts";

const NAMES = ["provider", "region", "size", "reboot"] as const;
/** As the API says it. */
const REBOOTS = { needed: "true", none: "false" } as const;

/** What a link has that is no such filter is left out. */
export const serverQuery = ({ provider, region, size, reboot, ...place }: Place): ListQuery => ({
  ...(provider && { provider }),
  ...(region && { region }),
  ...(size && { size }),
  ...((reboot === "needed" || reboot === "none") && { needs_reboot: REBOOTS[reboot] }),
  ...createdQuery(place),
});

export const ServerFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters names={NAMES} {...props}>
    <Fields {...props} />
  </MoreFilters>
);

/** The codes of a provider's offers, as the list shows them. */
const toOptions = (offers: readonly { code: string }[]) =>
  [...new Set(offers.map(({ code }) => code))].map((code) => ({ value: code, label: code }));

const Fields: Narrowing["Fields"] = ({ place, go }) => {
  const say = text.servers.filters;
  const providers = useQuery(catalog()).data?.data.providers ?? [];
  const options = {
    provider: toOptions(providers),
    region: toOptions(providers.flatMap(({ regions }) => regions)),
    size: toOptions(providers.flatMap(({ sizes }) => sizes)),
    reboot: (["needed", "none"] as const).map((value) => ({ value, label: say.reboots[value] })),
  };
  return <FilterSelects say={say} names={NAMES} options={options} place={place} go={go} />;
};
