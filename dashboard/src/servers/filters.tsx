// Filters of the servers by what else their list can show: provider, region, size, instances, free disk space and memory,
// creation; and by whether they need a reboot.
import { useQuery } from "@tanstack/react-query";
import { catalog, type ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { gigabytes } from "../resource/words/size.ts";
import type { ListState } from "../resource/list/use-list-state.ts";

/** Upper bounds: gigabytes, or numbers of instances. */
const BOUNDS: Readonly<Record<"instances" | "disk" | "memory", readonly number[]>> = {
  instances: [1, 5, 10, 25],
  disk: [5, 10, 20, 50],
  memory: [1, 2, 4],
};
const GB = 1_000_000_000;
const NAMES = ["provider", "region", "size", "instances", "disk", "memory", "reboot"] as const;
/** The values in the API. */
const REBOOTS = { needed: "true", none: "false" } as const;

const boundIn = (listState: ListState, name: keyof typeof BOUNDS): number | undefined =>
  BOUNDS[name].find((bound) => String(bound) === listState[name]);

const boundQuery = (listState: ListState): ListQuery => {
  const [instances, disk, memory] = [boundIn(listState, "instances"), boundIn(listState, "disk"), boundIn(listState, "memory")];
  return {
    ...(instances !== undefined && { instance_count_below: instances }),
    ...(disk !== undefined && { disk_free_bytes_below: disk * GB }),
    ...(memory !== undefined && { memory_free_bytes_below: memory * GB }),
  };
};

/** What a link has that is no such filter is left out. */
export const serverQuery = ({ provider, region, size, reboot, ...listState }: ListState): ListQuery => ({
  ...(provider && { provider }),
  ...(region && { region }),
  ...(size && { size }),
  ...((reboot === "needed" || reboot === "none") && { needs_reboot: REBOOTS[reboot] }),
  ...boundQuery(listState),
  ...createdQuery(listState),
});

export const ServerFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters names={NAMES} {...props}>
    <Fields {...props} />
  </MoreFilters>
);

/** The codes of a provider's offers, as the list shows them. */
const toOptions = (offers: readonly { code: string }[]) =>
  [...new Set(offers.map(({ code }) => code))].map((code) => ({ value: code, label: code }));

const Fields: Narrowing["Fields"] = ({ listState, go }) => {
  const say = text.servers.filters;
  const providers = useQuery(catalog()).data?.data.providers ?? [];
  const options = {
    provider: toOptions(providers),
    region: toOptions(providers.flatMap(({ regions }) => regions)),
    size: toOptions(providers.flatMap(({ sizes }) => sizes)),
    instances: BOUNDS.instances.map((count) => ({ value: String(count), label: say.instances(count) })),
    disk: BOUNDS.disk.map((size) => ({ value: String(size), label: say.disk(gigabytes(size)) })),
    memory: BOUNDS.memory.map((size) => ({ value: String(size), label: say.memory(gigabytes(size)) })),
    reboot: (["needed", "none"] as const).map((value) => ({ value, label: say.reboots[value] })),
  };
  return <FilterSelects say={say} names={NAMES} options={options} listState={listState} go={go} />;
};
