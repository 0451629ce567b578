// Filters of the operations: by kind, person, resource and time.
import { OPERATION_TYPES } from "../../../shared/domain/lifecycle.ts";
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";
import type { Narrowing } from "../resource/list-query.ts";
import { momentOfField, useZone } from "../resource/moment.ts";
import type { Place } from "../resource/use-place.ts";
import { PersonFilter, ResourceFilter, TypeFilter } from "./filters.tsx";

export function operationQuery({ type, actor, resource, from = "", to = "" }: Place): ListQuery {
  const [created_after, created_before] = [momentOfField(from), momentOfField(to)];
  return {
    ...(type && { type }),
    ...(actor && { actor }),
    ...(resource && { resource_id: resource }),
    ...(created_after && { created_after }),
    ...(created_before && { created_before }),
  };
}

export const OperationFilters: Narrowing["Fields"] = ({ place, go }) => {
  useZone(); // a time is another one there
  return (
    <>
      <TypeFilter types={OPERATION_TYPES} inWords={(type) => workOf(type).name} place={place} go={go} />
      <PersonFilter place={place} go={go} />
      {(["from", "to"] as const).map((name) => (
        <label key={name} className="moment">
          {text.events.filters[name]}
          <input
            className="date"
            type="datetime-local"
            value={place[name] ?? ""}
            onChange={({ target }) => go({ ...place, page: 1, [name]: target.value })}
          />
        </label>
      ))}
      <ResourceFilter place={place} go={go} />
    </>
  );
};
