// Filters of the alerts: open or closed ones, their kind, when they opened, and one resource.
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import { ALERT, ALERT_KIND_NAMES, ALERT_STATUSES, isAlertKind } from "../../../shared/domain/alerts.ts";
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { ResourceFilter } from "../operations/filters.tsx";
import { CreatedFilter, createdQuery } from "../resource/list/created-filter.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import type { ListState } from "../resource/list/use-list-state.ts";
import { kindInWords } from "./words.ts";

export const statusIn = ({ status }: ListState): string => (status === ALERT.closed ? ALERT.closed : ALERT.open);

export function alertQuery(listState: ListState): ListQuery {
  const { type, resource } = listState;
  return {
    status: statusIn(listState),
    ...(type !== undefined && isAlertKind(type) && { kind: type }),
    ...(resource && { resource_id: resource }),
    ...createdQuery(listState),
  };
}

export const AlertFilters: Narrowing["Fields"] = ({ listState, go }) => {
  const say = text.alerts;
  const kinds = ["", ...ALERT_KIND_NAMES].map((value) => ({ value, label: value === "" ? say.anyKind : kindInWords(value) }));
  return (
    <>
      <SegmentedControl
        label={say.status}
        selectedId={statusIn(listState)}
        options={ALERT_STATUSES.map((id) => ({ id, text: say.statuses[id] }))}
        onChange={({ detail }) => go({ ...listState, page: 1, status: detail.selectedId })}
      />
      <div className="filter">
        <Select
          ariaLabel={say.kind}
          options={kinds}
          selectedOption={kinds.find(({ value }) => value === (listState.type ?? "")) ?? null}
          onChange={({ detail }) => go({ ...listState, page: 1, type: detail.selectedOption.value })}
        />
      </div>
      <CreatedFilter listState={listState} go={go} labels={say.opened} />
      <ResourceFilter listState={listState} go={go} />
    </>
  );
};
