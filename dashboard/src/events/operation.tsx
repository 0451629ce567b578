// One operation: how far it is, or how it ended; of a bulk action what became of each resource, and another try of those that
// failed.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { useNavigate, useParams } from "react-router";
import type { BulkResult, Operation, OperationItem } from "../../../shared/api/operations.ts";
import { ITEM, ITEM_STATUSES } from "../../../shared/domain/lifecycle.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { May } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { type ListQuery, operations, type QueryMeta } from "../app/queries.ts";
import { BulkProgress } from "../bulk/bulk-progress.tsx";
import { Controls, sendControl } from "../bulk/controls.tsx";
import type { Candidate } from "../bulk/candidate.ts";
import { bulkNeeds } from "../bulk/needs.ts";
import { nameOfWork } from "../bulk/words.ts";
import { text } from "../messages/text.ts";
import { ApiCall } from "../resource/dialog/api-call.tsx";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { Loaded } from "../resource/page/loaded.tsx";
import { errorInWords } from "../resource/words/sentence.ts";
import { shownOf, Status } from "../resource/words/status.tsx";
import { ResourceTable } from "../resource/list/table.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Outcome, summaryOf } from "../operations/outcome.tsx";
import { pageOf, pageOfSubject } from "../operations/pages.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";
import { useKeptFocus } from "../resource/page/use-kept-focus.ts";
import { lazily } from "../app/lazily.tsx";
import { Retry } from "./retry.tsx";
import { useOperation } from "../operations/watch.ts";
import { isOpen } from "../operations/watch-store.ts";
import { durationInWords } from "../operations/words.ts";
import { StartedBy } from "../operations/started-by.tsx";

const BulkDialog = lazily(async () => (await import("../bulk/dialog.tsx")).BulkDialog);
const DeleteDialog = lazily(async () => (await import("../bulk/delete-dialog.tsx")).DeleteDialog);
const What = lazily(async () => (await import("./what.tsx")).What, "policies");
const WorkLog = lazily(async () => (await import("../operations/work-log.tsx")).WorkLog);

const above = () => [{ text: text.operations.title, href: "/operations" }];

export default function OperationDetail() {
  const { id = "" } = useParams();
  const watched = useOperation(id);
  // What the watch follows to its end needs no requests besides.
  const question =
    watched !== undefined && isOpen(watched)
      ? { ...operations.one(id), meta: { changedBy: [] } satisfies QueryMeta }
      : operations.one(id);
  return (
    <Loaded kind={text.operations.one} above={above()} question={question}>
      {(operation) => <OperationPage key={operation.id} operation={operation} />}
    </Loaded>
  );
}

function OperationPage({ operation: loaded }: { operation: Operation }) {
  const operation = useOperation(loaded.id) ?? loaded;
  const { result, resource, status, created_by, created_at } = operation;
  const bulk = result?.bulk;
  const say = text.operations.columns;
  return (
    <Page
      title={nameOfWork(operation)}
      above={above()}
      actions={
        bulk === undefined ? <Retry operation={operation} variant="normal" /> : <BulkActions operation={operation} bulk={bulk} />
      }
    >
      <Container>
        <SpaceBetween size="m">
          <KeyValuePairs
            columns={4}
            items={[
              { label: say.status, value: <Status of="operation" status={status} /> },
              ...(bulk === undefined && pageOf(resource) !== undefined
                ? [{ label: say.on, value: <NameWithLink name={resource.name ?? resource.id} page={pageOfSubject(operation)} /> }]
                : []),
              ...(bulk !== undefined && hasParameters(bulk)
                ? [{ label: text.bulk.parameters.title, value: <What parameters={bulk.parameters} /> }]
                : []),
              { label: say.by, value: <StartedBy actor={created_by} /> },
              { label: say.at, value: <Time at={created_at} exact /> },
              { label: say.duration, value: durationInWords(operation) },
            ]}
          />
          {bulk !== undefined && isOpen(operation) ? (
            <>
              <BulkProgress operation={operation} />
              <div>{summaryOf(bulk)}</div>
            </>
          ) : (
            <Outcome operation={operation} onOwnPage timed />
          )}
          {bulk !== undefined && isOpen(operation) && (
            <May needs={bulkNeeds(bulk)}>
              <ApiCall send={() => sendControl(operation.id, "pause")} />
            </May>
          )}
        </SpaceBetween>
      </Container>
      {bulk !== undefined && <Items operation={operation} bulk={bulk} />}
      {bulk === undefined &&
        (status === "failed" ? (
          <WorkLog operation={operation} />
        ) : (
          <OnDemand title={text.operations.log.title} description={text.operations.log.about}>
            <WorkLog operation={operation} />
          </OnDemand>
        ))}
    </Page>
  );
}

function BulkActions({ operation, bulk }: { operation: Operation; bulk: BulkResult }) {
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box);
  return (
    <div ref={box}>
      {isOpen(operation) ? (
        <Controls operation={operation} />
      ) : (
        <May needs={bulkNeeds(bulk)}>
          <Again id={operation.id} bulk={bulk} />
        </May>
      )}
    </div>
  );
}

const hasParameters = ({ parameters }: BulkResult): boolean => Object.keys(parameters).length > 0;

/** What holds a resource that waits changes without the counts. */
const ITEMS_POLL_MS = 10_000;

type Item = OperationItem & { id: string };

function Items({ operation, bulk }: { operation: Operation; bulk: BulkResult }) {
  const say = text.bulk;
  const counts = ITEM_STATUSES.map((status) => bulk[status]);
  const isWorking = isOpen(operation) && operation.result?.control !== "pause";
  const list = (query: ListQuery) => ({
    ...operations.items(operation.id, query, counts),
    ...(isWorking && { refetchInterval: ITEMS_POLL_MS }),
  });
  return (
    <ResourceTable<Item>
      title={say.results}
      list={list}
      Filters={ListFilters}
      filters={{ status: "item" }}
      columns={[
        {
          id: "resource",
          header: say.columns.resource,
          cell: (item) => (
            <Wrapped>
              <NameWithLink name={item.resource.name} page={pageOfItem(item, operation)} />
            </Wrapped>
          ),
          text: ({ resource }) => resource.name,
        },
        {
          id: "status",
          header: say.columns.status,
          cell: ({ status }) => <Status of="item" status={status} />,
          text: ({ status }) => shownOf("item", status).word,
        },
        {
          id: "reason",
          header: say.columns.reason,
          cell: ({ error }) => (error === null ? "–" : <Wrapped>{errorInWords(error)}</Wrapped>),
          text: ({ error }) => (error === null ? "" : errorInWords(error)),
          isEmpty: ({ error }) => error === null,
        },
        {
          id: "operation",
          header: say.columns.operation,
          cell: ({ operation_id }) => (operation_id === null ? "–" : <Link to={`/operations/${operation_id}`}>{say.open}</Link>),
          text: ({ operation_id }) => operation_id ?? "",
          isEmpty: ({ operation_id }) => operation_id === null,
        },
      ]}
      empty={say.noResults}
    />
  );
}

/** The page of what an item was about; for a deleted instance, the backups that are left of it. */
function pageOfItem({ resource, ...item }: OperationItem, { result }: Operation): string | undefined {
  if (hasBackupsLeft(item)) return `/backups?instance=${resource.id}`;
  return result?.bulk?.action === "delete" && item.status === ITEM.succeeded ? undefined : pageOf(resource);
}

const hasBackupsLeft = ({ error }: Pick<OperationItem, "error">): boolean => error?.reason?.code === "backups_left";

const NameWithLink = ({ name, page }: { name: string; page: string | undefined }) =>
  page === undefined ? name : <Link to={page}>{name}</Link>;

/** The same again for those that failed or were not begun; it asks first, as the first one did. */
function Again({ id, bulk: { type, action, parameters, total, succeeded } }: { id: string; bulk: BulkResult }) {
  const navigate = useNavigate();
  const candidates = useMutation({
    mutationFn: async () => [...(await itemsWith(id, "failed")), ...(await itemsWith(id, "cancelled"))].map(toCandidate),
  });
  if (total === succeeded) return null;
  const dialog = candidates.data && {
    kind: type,
    action,
    selected: candidates.data,
    onDone: ({ data }: { data: { id: string } }) => void navigate(`/operations/${data.id}`),
    onDismiss: candidates.reset,
  };
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="center">
      {candidates.isError && <Failure error={candidates.error} />}
      <Button loading={candidates.isPending} onClick={() => candidates.mutate()}>
        {text.bulk.again(total - succeeded)}
      </Button>
      {dialog !== undefined &&
        (action === "delete" ? (
          <DeleteDialog {...dialog} alsoBackups={parameters["with_backups"] === true} />
        ) : (
          <BulkDialog {...dialog} parameters={parameters} options={<What parameters={parameters} />} />
        ))}
    </SpaceBetween>
  );
}

const toCandidate = ({ resource: { id, name }, error }: OperationItem): Candidate => ({
  id,
  name,
  labels: undefined,
  exclusionReason: hasBackupsLeft({ error })
    ? text.bulk.backupsLeft
    : error?.code === "NOT_FOUND"
      ? text.bulk.alreadyDeleted
      : undefined,
});

async function itemsWith(id: string, status: "failed" | "cancelled"): Promise<OperationItem[]> {
  const items: OperationItem[] = [];
  let cursor: string | undefined;
  do {
    const query = { status, per_page: PER_PAGE_MAX, ...(cursor !== undefined && { cursor }) };
    const { data, meta } = await client.operations.items({ params: { id }, query });
    items.push(...data);
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}
