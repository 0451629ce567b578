// The account's activity: who did what, when and from where.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { type RefObject, useEffect, useRef, useState } from "react";
import type { Event } from "../../../shared/api/events.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { events } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { pageOf, useIsGone } from "../operations/pages.ts";
import { actorInWords } from "../operations/words.ts";
import { ListPage } from "../resource/list/list-page.tsx";
import type { Column } from "../resource/list/column.ts";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Changes, changesIn } from "./changes.tsx";
import { EventFilters, eventQuery, Only } from "./filters.tsx";
import { actionInWords } from "./words.ts";

const ExportEvents = lazily(async () => (await import("./export.tsx")).ExportEvents);

function originInWords({ type, ip_address, role, signed_in_with }: Event["actor"]): string {
  const actors: Readonly<Record<string, string>> = text.events.actors; // a newer service may have others
  const roles: Readonly<Record<string, { name: string } | undefined>> = text.people.roles;
  const ways: Readonly<Record<string, string>> = text.events.signedInWith;
  const way = signed_in_with === undefined ? undefined : ways[signed_in_with];
  const as = role === undefined ? (actors[type] ?? type) : (roles[role]?.name ?? role);
  const actor = way === undefined ? as : text.events.with(as, way);
  return ip_address === null ? actor : text.events.from(actor, ip_address);
}

/** The ID of the newest event that the page has shown. */
type Newest = RefObject<string | undefined>;

function columnsNow(newest: Newest): [Column<Event>, ...Column<Event>[]] {
  const say = text.events.columns;
  return [
    {
      id: "what",
      header: say.action,
      cell: (event) => (
        <Wrapped>
          <What event={event} />
          <Changes of={event} />
        </Wrapped>
      ),
      text: (event) => [wordsOf(event), ...changesIn(event)].join("; "),
    },
    {
      id: "resource",
      header: say.resource,
      cell: (event) => <Resource of={event} newest={newest} />,
      text: ({ resource }) => resource.name ?? resource.id,
    },
    {
      id: "who",
      header: say.who,
      text: ({ actor }) => `${actorInWords(actor)} (${originInWords(actor)})`,
      cell: ({ actor }) => (
        <Wrapped>
          {actorInWords(actor)} <Only name="actor" value={actor.id} label={actorInWords(actor)} />
          <Box variant="small" display="block">
            {originInWords(actor)}
          </Box>
        </Wrapped>
      ),
    },
    { id: "when", header: say.when, cell: ({ created_at }) => <Time at={created_at} />, text: ({ created_at }) => created_at },
    {
      id: "request",
      header: say.request,
      cell: ({ request_id }) => <RequestId id={request_id} />,
      text: ({ request_id }) => request_id,
    },
  ];
}

/** What it started or came of has a page, with its outcome and the reason. */
function What({ event }: { event: Event }) {
  const words = wordsOf(event);
  return event.operation_id === null ? words : <Link to={`/operations/${event.operation_id}`}>{words}</Link>;
}

const wordsOf = ({ type, operation_id }: Event): string => actionInWords(type, operation_id !== null);

export default function Activity() {
  const newest = useRef<string>(undefined);
  const [exporting, setExporting] = useState(false);
  const columns = columnsNow(newest);
  return (
    <ListPage
      title={text.events.title}
      description={text.events.about}
      list={events.list}
      narrowing={{ query: eventQuery, Fields: EventFilters }}
      columns={columns}
      perPage={25}
      empty={text.events.empty}
      add={<Button onClick={() => setExporting(true)}>{text.events.export.title}</Button>}
    >
      {exporting && <ExportEvents columns={columns} onDismiss={() => setExporting(false)} />}
    </ListPage>
  );
}

/** What these events delete is gone with them; its other events lead to the list that it was on. */
const AT_ONCE = ["ssh_key.delete", "token.delete", "webhook.delete"];
/** An event that says that something was deleted needs no more words for it. */
const DELETION = /\.delete(?:\.succeeded)?$/;

function Resource({ of: { id, resource: of, type }, newest }: { of: Event; newest: Newest }) {
  // What an event is about that has just happened is there: to look that up would be one more request after each change.
  const [isNew] = useState(() => newest.current !== undefined && id > newest.current);
  useEffect(() => {
    if (newest.current === undefined || id > newest.current) newest.current = id;
  }, [id, newest]);
  const name = of.name ?? of.id;
  const page = pageOf(of);
  const isGone = useIsGone(of, { isNew }) || AT_ONCE.includes(type);
  return (
    <Wrapped>
      {page === undefined || isGone ? name : <Link to={page}>{name}</Link>}
      {/^[a-z]{1,20}_[0-9a-z]{26}$/.test(of.id) && <Only name="resource" value={of.id} label={name} />}
      {isGone && !DELETION.test(type) && (
        <Box variant="span" color="text-body-secondary">
          {" "}
          {text.events.deleted}
        </Box>
      )}
    </Wrapped>
  );
}

/** Its first characters, to distinguish requests; copying gives the whole ID for searching logs. */
function RequestId({ id }: { id: string }) {
  const short = id.length > SHORT ? `${id.slice(0, SHORT)}…` : id;
  return (
    <div className="copyable">
      <CopyToClipboard
        variant="inline"
        textToCopy={id}
        textToDisplay={
          <code className="code" title={id}>
            {short}
          </code>
        }
        copyButtonAriaLabel={text.events.copyRequestId(short)}
        copySuccessText={text.events.copied}
        copyErrorText={text.events.notCopied(id)}
      />
    </div>
  );
}
const SHORT = 8;
