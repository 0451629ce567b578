// Filters of an instance's deploys by what their list shows: status, who began them, and when.
import { DEPLOY_STATUS } from "../../../shared/domain/lifecycle.ts";
import { deploys, type ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { smallList } from "../resource/list/small-list.ts";
import { shownOf } from "../resource/words/status.tsx";
import type { ListState } from "../resource/list/use-list-state.ts";
import { commitsInWords, modulesInWords, triggerInWords } from "./words.ts";
import { DEPLOY_TRIGGERS } from "../../../shared/domain/code-rules.ts";

const NAMES = ["status", "kind"] as const;
const STATUSES = Object.values(DEPLOY_STATUS);

/** What a link has that is no such filter is left out. */
const deployQuery = (listState: ListState): ListQuery => ({
  status: STATUSES.find((each) => each === listState.status),
  trigger: DEPLOY_TRIGGERS.find((each) => each === listState.kind),
  ...createdQuery(listState),
});

export const listDeploys = (instanceId: string) =>
  smallList(deploys.listOf(instanceId), {
    textsOf: ({ note, created_by, commits, ...deploy }) => [
      deploy.created_at,
      commitsInWords({ commits }),
      ...commits.flatMap(({ commit, subject }) => [commit, subject ?? ""]),
      modulesInWords(deploy),
      note ?? "",
      created_by.name,
    ],
    matches: ({ status, trigger }, query) =>
      (query["status"] === undefined || status === query["status"]) &&
      (query["trigger"] === undefined || trigger === query["trigger"]),
  });

export const narrowDeploys = (): Narrowing => ({
  query: deployQuery,
  Fields: DeployFilters,
  placeholder: text.code.deploys.filters.placeholder,
});

const DeployFilters: Narrowing["Fields"] = (props) => {
  const say = text.code.deploys.filters;
  const options = {
    status: STATUSES.map((value) => ({ value, label: shownOf("deploy", value).word })),
    kind: DEPLOY_TRIGGERS.map((value) => ({ value, label: triggerInWords(value) })),
  };
  return (
    <MoreFilters names={NAMES} labels={say.begun} {...props}>
      <FilterSelects say={say} names={NAMES} options={options} {...props} />
    </MoreFilters>
  );
};
