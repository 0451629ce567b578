// Filters of the servers by what else their list can show: provider, region, size and creation.
import { useQuery } from "@tanstack/react-query";
import { catalog, type ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { CreatedFilter, createdQuery, isCreatedChosen, MoreFilters } from "../resource/created-filter.tsx";
import { FilterSelect } from "../resource/filter-select.tsx";
import type { Narrowing } from "../resource/list-query.ts";
import type { Place } from "../resource/use-place.ts";

const NAMES = ["provider", "region", "size"] as const;

export const serverQuery = ({ provider, region, size, ...place }: Place): ListQuery => ({
  ...(provider && { provider }),
  ...(region && { region }),
  ...(size && { size }),
  ...createdQuery(place),
});

export const ServerFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters chosen={NAMES.some((name) => props.place[name]) || isCreatedChosen(props.place)}>
    <Fields {...props} />
    <CreatedFilter {...props} />
  </MoreFilters>
);

const Fields: Narrowing["Fields"] = ({ place, go }) => {
  const say = text.servers.filters;
  const providers = useQuery(catalog()).data?.data.providers ?? [];
  const codes = {
    provider: providers.map(({ code }) => code),
    region: providers.flatMap(({ regions }) => regions.map(({ code }) => code)),
    size: providers.flatMap(({ sizes }) => sizes.map(({ code }) => code)),
  };
  return NAMES.map((name) => (
    <FilterSelect
      key={name}
      label={say.labels[name]}
      any={say.any[name]}
      options={[...new Set(codes[name])].map((code) => ({ value: code, label: code }))}
      value={place[name]}
      onChange={(value) => go({ ...place, page: 1, [name]: value })}
    />
  ));
};
