// The bulk actions in progress, on every page but their own: how many are done, and buttons to pause and cancel.
import Flashbar from "@cloudscape-design/components/flashbar";
import { useLocation } from "react-router";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import { useRunning } from "../operations/watch.ts";
import { BulkProgress } from "./bulk-progress.tsx";
import { Controls } from "./controls.tsx";

export function BulkPanel() {
  const { pathname } = useLocation();
  const running = useRunning().filter(({ id, result }) => result?.bulk !== undefined && pathname !== `/operations/${id}`);
  return (
    <Flashbar
      items={running.map((operation) => ({
        id: operation.id,
        type: "info",
        content: (
          <>
            <BulkProgress operation={operation} variant="flash" />
            <Link to={`/operations/${operation.id}`}>{text.bulk.results}</Link>
          </>
        ),
        action: <Controls operation={operation} />,
      }))}
    />
  );
}
