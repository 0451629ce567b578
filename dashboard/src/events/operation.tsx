// One operation: how far it is, or how it ended; of a bulk action what became of each resource, and another try of those that
// failed.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { BulkResult, Operation, OperationItem } from "../../../shared/api/operations.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { May } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { type ListQuery, operations } from "../app/queries.ts";
import { BulkProgress } from "../bulk/bulk-progress.tsx";
import { Controls, sendControl } from "../bulk/controls.tsx";
import { bulkNeeds } from "../bulk/needs.ts";
import { sendBulk } from "../bulk/use-bulk.ts";
import { bulkWork } from "../bulk/words.ts";
import { text } from "../messages/text.ts";
import { ApiCall } from "../resource/api-call.tsx";
import { ListFilters } from "../resource/list-filters.tsx";
import { Loaded } from "../resource/loaded.tsx";
import { errorInWords } from "../resource/sentence.ts";
import { shownOf, Status } from "../resource/status.tsx";
import { ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { Outcome } from "../operations/outcome.tsx";
import { pageOf } from "../operations/pages.ts";
import { OnDemand } from "../resource/on-demand.tsx";
import { lazily } from "../app/lazily.tsx";
import { Retry } from "./retry.tsx";
import { useOperation } from "../operations/watch.ts";
import { isOpen } from "../operations/watch-store.ts";
import { durationInWords, workOf } from "../operations/words.ts";
import { StartedBy } from "../operations/started-by.tsx";

const DeleteDialog = lazily(async () => (await import("../bulk/delete-dialog.tsx")).DeleteDialog);
const WorkLog = lazily(async () => (await import("../operations/work-log.tsx")).WorkLog);

const above = () => [{ text: text.operations.title, href: "/operations" }];

export default function OperationDetail() {
  const { id = "" } = useParams();
  return (
    <Loaded kind={text.operations.one} above={above()} question={operations.one(id)}>
      {(operation) => <Shown key={operation.id} operation={operation} />}
    </Loaded>
  );
}

function Shown({ operation: loaded }: { operation: Operation }) {
  const operation = useOperation(loaded.id) ?? loaded;
  const { type, result, resource, status, created_by, created_at } = operation;
  const bulk = result?.bulk;
  const [say, page] = [text.operations.columns, pageOf(resource)];
  const title = bulk === undefined ? workOf(type).name : bulkWork(bulk.type, bulk.action).ask(text.bulk.many(bulk.type));
  return (
    <Page
      title={title}
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
              ...(bulk === undefined && page !== undefined
                ? [{ label: say.on, value: <Link to={page}>{resource.name ?? resource.id}</Link> }]
                : []),
              { label: say.by, value: <StartedBy actor={created_by} /> },
              { label: say.at, value: <Time at={created_at} exact /> },
              { label: say.duration, value: durationInWords(operation) },
            ]}
          />
          {bulk !== undefined && isOpen(operation) ? (
            <BulkProgress operation={operation} />
          ) : (
            <Outcome operation={operation} onOwnPage />
          )}
          {bulk !== undefined && <div>{text.bulk.summary(bulk.succeeded, bulk.total, bulk.failed, bulk.cancelled)}</div>}
          {bulk !== undefined && isOpen(operation) && (
            <May needs={bulkNeeds(bulk)}>
              <ApiCall send={() => sendControl(operation.id, "pause")} />
            </May>
          )}
        </SpaceBetween>
      </Container>
      {bulk !== undefined && <Items operation={operation} />}
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

const BulkActions = ({ operation, bulk }: { operation: Operation; bulk: BulkResult }) =>
  isOpen(operation) ? (
    <Controls operation={operation} />
  ) : (
    <May needs={bulkNeeds(bulk)}>
      <Again id={operation.id} bulk={bulk} />
    </May>
  );

/** A moment more often than the service records what it did. */
const LOOK_EVERY_MS = 2_000;

type Item = OperationItem & { id: string };

function Items({ operation }: { operation: Operation }) {
  const say = text.bulk;
  const list = (query: ListQuery) => ({
    ...operations.items(operation.id, query),
    refetchInterval: isOpen(operation) && LOOK_EVERY_MS,
  });
  return (
    <ResourceTable<Item>
      title={say.results}
      list={list}
      Filters={ListFilters}
      filters={{ status: "item" }}
      columns={[
        { id: "resource", header: say.columns.resource, cell: ({ resource }) => <Name of={resource} />, text: nameOf },
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

const nameOf = ({ resource }: Item): string => resource.name;

function Name({ of: resource }: { of: Item["resource"] }) {
  const page = pageOf(resource);
  return <Wrapped>{page === undefined ? resource.name : <Link to={page}>{resource.name}</Link>}</Wrapped>;
}

/** The same again for those that failed or were not begun; a deletion asks for their number first, as the first one did. */
function Again({ id, bulk: { type, action, parameters, total, succeeded } }: { id: string; bulk: BulkResult }) {
  const navigate = useNavigate();
  const [asked, setAsked] = useState<OperationItem["resource"][]>();
  const left = total - succeeded;
  const show = ({ data }: { data: { id: string } }): void => void navigate(`/operations/${data.id}`);
  const again = useMutation({
    mutationFn: async () => {
      const resources = [...(await resourcesWith(id, "failed")), ...(await resourcesWith(id, "cancelled"))];
      if (action === "delete") setAsked(resources);
      else show(await sendBulk({ action, ids: resources.map((each) => each.id), parameters }, `again-${id}`));
    },
  });
  if (left === 0) return null;
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="center">
      {again.isError && <Failure error={again.error} />}
      <Button loading={again.isPending} onClick={() => again.mutate()}>
        {text.bulk.again(left)}
      </Button>
      {asked !== undefined && (
        <DeleteDialog
          kind={type}
          action={action}
          selected={asked.map((each) => ({ id: each.id, name: each.name, labels: {}, why: undefined }))}
          alsoBackups={parameters["with_backups"] === true}
          onDone={show}
          onDismiss={() => setAsked(undefined)}
        />
      )}
    </SpaceBetween>
  );
}

async function resourcesWith(id: string, status: "failed" | "cancelled"): Promise<OperationItem["resource"][]> {
  const found: OperationItem["resource"][] = [];
  let cursor: string | undefined;
  do {
    const query = { status, per_page: PER_PAGE_MAX, ...(cursor !== undefined && { cursor }) };
    const { data, meta } = await client.operations.items({ params: { id }, query });
    found.push(...data.map(({ resource }) => resource));
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}
