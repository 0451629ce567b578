// Filters of the operations: by kind, person, resource and time.
import { OPERATION_TYPES } from "../../../shared/domain/lifecycle.ts";
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { CreatedFilter, createdQuery } from "../resource/list/created-filter.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import type { ListState } from "../resource/list/use-list-state.ts";
import { PersonFilter, ResourceFilter, TypeFilter } from "./filters.tsx";
import { workOf } from "./words.ts";

export const operationQuery = ({ type, actor, resource, ...listState }: ListState): ListQuery => ({
  ...(type && { type }),
  ...(actor && { actor }),
  ...(resource && { resource_id: resource }),
  ...createdQuery(listState),
});

/** Those of one resource's operations. */
export const WorkFilters: Narrowing["Fields"] = (props) => (
  <>
    <TypeFilter types={OPERATION_TYPES} inWords={(type) => workOf(type).name} {...props} />
    <PersonFilter {...props} />
    <CreatedFilter {...props} labels={text.events.filters} />
  </>
);

export const OperationFilters: Narrowing["Fields"] = (props) => (
  <>
    <WorkFilters {...props} />
    <ResourceFilter {...props} />
  </>
);
