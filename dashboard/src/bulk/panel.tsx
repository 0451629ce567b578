// The bulk actions in progress, on every page but their own: how many are done, and buttons to pause and cancel. What the user
// closes stays closed in this tab; its page and the notification of its end remain.
import Flashbar from "@cloudscape-design/components/flashbar";
import { useLocation } from "react-router";
import { parseJson } from "../../../shared/domain/json.ts";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import { useRunning } from "../operations/watch.ts";
import { createStore } from "../session/store.ts";
import { BulkProgress } from "./bulk-progress.tsx";
import { Controls } from "./controls.tsx";

const KEY = "dismissed-bulk-actions";
const dismissed = createStore(stored());

/** The stored value may be anything. */
function stored(): readonly unknown[] {
  const value = parseJson(sessionStorage.getItem(KEY) ?? "[]");
  return Array.isArray(value) ? value : [];
}

function dismiss(id: string): void {
  dismissed.set([...dismissed.get(), id]);
  sessionStorage.setItem(KEY, JSON.stringify(dismissed.get()));
}

export function BulkPanel() {
  const { pathname } = useLocation();
  const closed = dismissed.use();
  const running = useRunning().filter(
    ({ id, result }) => result?.bulk !== undefined && pathname !== `/operations/${id}` && !closed.includes(id),
  );
  return (
    <Flashbar
      items={running.map((operation) => ({
        id: operation.id,
        type: "info",
        dismissible: true,
        dismissLabel: text.shell.dismiss,
        onDismiss: () => dismiss(operation.id),
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
