// The columns of lists of operations: how each ended and why, who started it and when, and another try.
import { type ReactNode, useContext } from "react";
import type { Operation } from "../../../shared/api/operations.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/list/column.ts";
import { menuColumn } from "../resource/list/list-page.tsx";
import { shownOf, Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { Outcome, outcomeInWords } from "./outcome.tsx";
import { RetryMenu } from "./retry-menu.ts";
import { StartedBy } from "./started-by.tsx";
import { useOperation } from "./watch.ts";
import { actorInWords, workOf } from "./words.ts";

type OperationColumn = Column<Operation>;

/** `cell`: the name of the work, with a link where there is a page. */
export const workColumn = (
  cell: OperationColumn["cell"],
  name: OperationColumn["text"] = ({ type }) => workOf(type).name,
): OperationColumn => ({
  id: "type",
  header: text.operations.columns.operation,
  cell,
  text: name,
});

/** `timed`: a column beside them says how long it took. */
export const outcomeColumns = ({ timed = false }: { timed?: boolean } = {}): OperationColumn[] => [
  {
    id: "status",
    header: text.operations.columns.status,
    cell: (operation) => <LiveStatus operation={operation} />,
    text: ({ status }) => shownOf("operation", status).word,
  },
  {
    id: "outcome",
    header: text.operations.columns.result,
    cell: (operation) => <Outcome operation={operation} timed={timed} />,
    text: outcomeInWords,
  },
];

/** `starter` may add to the name of who started it, such as a button that filters by them. */
export const startColumns = (
  starter: (operation: Operation) => ReactNode = ({ created_by }) => <StartedBy actor={created_by} />,
): OperationColumn[] => [
  { id: "by", header: text.operations.columns.by, cell: starter, text: ({ created_by }) => actorInWords(created_by) },
  {
    id: "at",
    header: text.operations.columns.at,
    cell: ({ created_at }) => <Time at={created_at} />,
    text: ({ created_at }) => created_at,
  },
  menuColumn((operation) => <Menu operation={operation} />),
];

function Menu({ operation }: { operation: Operation }) {
  const Provided = useContext(RetryMenu);
  return <Provided operation={operation} />;
}

/** The list is as old as its last response; the watch is more recent. */
function LiveStatus({ operation }: { operation: Operation }) {
  const live = useOperation(operation.id) ?? operation;
  return <Status of="operation" status={live.status} />;
}
