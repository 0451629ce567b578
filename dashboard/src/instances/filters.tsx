// Filters of the instances by what else their list can show: version, edition, image, server, last backup, drill and creation.
import { useQuery } from "@tanstack/react-query";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { type ListQuery, catalog, servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { ChooserSelect } from "../resource/form/chooser.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { usePages } from "../resource/page/use-pages.ts";
import type { ListState } from "../resource/list/use-list-state.ts";
import { serviceNow } from "../session/clock.ts";
import { DAY_MS, HOUR_MS } from "../../../shared/domain/durations.ts";
import { EDITIONS } from "../../../shared/domain/erp-versions.ts";

const NAMES = ["version", "edition", "image", "older", "drill"] as const;
const DRILLS = ["passed", "failed"] as const;
/** Whether there is a newer image, as the API says it. */
const IMAGES = { newer: "true", newest: "false" } as const;
const DAYS = [1, 2, 7, 30] as const;

/** Rounds down to the hour, so that the same filter is the same question for a while. */
const daysAgo = (days: number): string => new Date(Math.floor(serviceNow() / HOUR_MS) * HOUR_MS - days * DAY_MS).toISOString();

/** What a link has that is no such filter is left out. */
export function instanceQuery({ version, edition, image, server, older, drill, ...listState }: ListState): ListQuery {
  const days = DAYS.find((each) => String(each) === older);
  return {
    ...(version && { erp_version: version }),
    ...(EDITIONS.some((each) => each === edition) && { edition }),
    ...((image === "newer" || image === "newest") && { update_available: IMAGES[image] }),
    ...(server && { server_id: server }),
    ...(days !== undefined && { last_backup_before: daysAgo(days) }),
    ...(DRILLS.some((each) => each === drill) && { drill }),
    ...createdQuery(listState),
  };
}

export const InstanceFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters names={[...NAMES, "server"]} {...props}>
    <Fields {...props} />
    <ServerFilter {...props} />
  </MoreFilters>
);

/** Those of the instances of one server. */
export const FiltersOnServer: Narrowing["Fields"] = (props) => (
  <MoreFilters names={NAMES} {...props}>
    <Fields {...props} />
  </MoreFilters>
);

/** What is typed is looked up; a link may name a server that is not among the first. */
const ServerFilter: Narrowing["Fields"] = ({ listState, go }) => {
  const { labels, any, plural, noServers } = text.instances.filters;
  const { server: chosen = "" } = listState;
  const pages = usePages(servers.list);
  const isListed = chosen === "" || pages.pending || pages.items.some(({ id }) => id === chosen);
  const chosenServer = useQuery({ ...servers.named(chosen), enabled: !isListed });
  return (
    <div className="filter">
      <ChooserSelect<Pick<ListedServer, "id" | "name">>
        ariaLabel={labels.server}
        any={any.server}
        pages={pages}
        initially={chosenServer.data ?? { id: chosen, name: chosen === "" ? any.server : chosen }}
        optionOf={({ name }) => ({ label: name })}
        chosen={chosen}
        onChange={(server) => go({ ...listState, page: 1, server })}
        placeholder={any.server}
        plural={plural}
        empty={noServers}
      />
    </div>
  );
};

const Fields: Narrowing["Fields"] = ({ listState, go }) => {
  const say = text.instances.filters;
  const versions = useQuery(catalog()).data?.data.erp_versions ?? [];
  const options = {
    version: versions.map(({ version }) => ({ value: version, label: version })),
    edition: EDITIONS.map((value) => ({ value, label: text.instances.create.editions[value].label })),
    image: (["newer", "newest"] as const).map((value) => ({ value, label: say.images[value] })),
    older: DAYS.map((days) => ({ value: String(days), label: say.days(days) })),
    drill: DRILLS.map((value) => ({ value, label: say.drills[value] })),
  };
  return <FilterSelects say={say} names={NAMES} options={options} listState={listState} go={go} />;
};
