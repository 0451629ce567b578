// The alerts that are open, and those that were.
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Alert } from "../../../shared/api/alerts.ts";
import { ALERT } from "../../../shared/domain/alerts.ts";
import { useFollow } from "../app/follow.ts";
import { Link } from "../app/link.tsx";
import { alerts } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { pageOf } from "../operations/pages.ts";
import type { Column } from "../resource/list/column.ts";
import { ListPage, menuColumn } from "../resource/list/list-page.tsx";
import { Time } from "../resource/words/time.tsx";
import { useListState } from "../resource/list/use-list-state.ts";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { AlertFilters, alertQuery, statusIn } from "./filters.tsx";
import { AlertMenu, mutedInWords } from "./mute.tsx";
import { kindInWords, valueInWords } from "./words.ts";

const NARROWING = { query: alertQuery, always: ["status"], Fields: AlertFilters };

function columns(isOpen: boolean): [Column<Alert>, ...Column<Alert>[]] {
  const say = text.alerts.columns;
  const menu = menuColumn<Alert>((alert) => alert.status === ALERT.open && <AlertMenu alert={alert} />);
  return [
    {
      id: "alert",
      header: say.alert,
      cell: ({ kind, status, operation_id }) => (
        <Wrapped>
          <StatusIndicator type={status === ALERT.open ? "warning" : "stopped"}>{kindInWords(kind)}</StatusIndicator>
          {operation_id !== null && (
            <>
              {" "}
              <Link to={`/operations/${operation_id}`}>{text.alerts.operation}</Link>
            </>
          )}
        </Wrapped>
      ),
      text: ({ kind }) => kindInWords(kind),
    },
    {
      id: "resource",
      header: say.resource,
      cell: ({ resource }) => (
        <Wrapped>
          <Link to={pageOf(resource) ?? "/alerts"}>{resource.name}</Link>
        </Wrapped>
      ),
      text: ({ resource }) => resource.name,
    },
    {
      id: "value",
      header: say.value,
      cell: (alert) => <Wrapped>{valueInWords(alert)}</Wrapped>,
      text: valueInWords,
      isEmpty: (alert) => valueInWords(alert) === "",
    },
    { id: "since", header: say.since, cell: ({ opened_at }) => <Time at={opened_at} />, text: ({ opened_at }) => opened_at },
    isOpen
      ? {
          id: "mail",
          header: say.mail,
          cell: mutedInWords,
          text: ({ muted_until }) => muted_until ?? "",
          isEmpty: (alert) => mutedInWords(alert) === "",
        }
      : {
          id: "closed",
          header: say.closed,
          cell: ({ closed_at }) => <Time at={closed_at} />,
          text: ({ closed_at }) => closed_at ?? "",
        },
    ...(isOpen ? [menu] : []),
  ];
}

export default function Alerts() {
  const follow = useFollow();
  const [listState] = useListState("");
  const isOpen = statusIn(listState) === ALERT.open;
  return (
    <ListPage
      title={text.alerts.title}
      description={text.alerts.about}
      list={alerts.list}
      narrowing={NARROWING}
      columns={columns(isOpen)}
      perPage={25}
      empty={isOpen ? text.alerts.none : text.alerts.noneClosed}
      actions={
        <Button href="/settings/alerts" onFollow={follow}>
          {text.alerts.settings.title}
        </Button>
      }
    />
  );
}
