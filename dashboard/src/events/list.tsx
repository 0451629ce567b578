// The account's activity: who did what, when and from where.
import Box from "@cloudscape-design/components/box";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import type { Event } from "../../../shared/api/settings.ts";
import { Link } from "../app/link.tsx";
import { events } from "../app/queries.ts";
import { ListPage } from "../resource/list-page.tsx";
import type { Column } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { actionInWords, pageOf } from "./words.ts";

const ACTORS: Record<Event["actor"]["type"], string> = {
  user: "User",
  token: "API key",
  operator: "Service operator",
  schedule: "Backup policy",
};

const COLUMNS: [Column<Event>, ...Column<Event>[]] = [
  { id: "what", header: "Action", cell: ({ type }) => actionInWords(type) },
  { id: "resource", header: "Resource", cell: ({ resource }) => <Resource of={resource} /> },
  {
    id: "who",
    header: "Who",
    cell: ({ actor }) => (
      <Wrapped>
        {actor.name}
        <Box variant="small" display="block">
          {ACTORS[actor.type]}
          {actor.ip_address !== null && ` from ${actor.ip_address}`}
        </Box>
      </Wrapped>
    ),
  },
  { id: "when", header: "When", cell: ({ created_at }) => <Time at={created_at} /> },
  { id: "request", header: "Request", cell: ({ request_id }) => <RequestId id={request_id} /> },
];

export default function Activity() {
  return (
    <ListPage
      title="Activity"
      description="Everything requested in this account, newest first. Open a resource to see how an operation ended."
      list={events.list}
      columns={COLUMNS}
      perPage={25}
      empty="No activity yet."
    />
  );
}

function Resource({ of }: { of: Event["resource"] }) {
  const name = of.name ?? of.id;
  const page = pageOf(of);
  return <Wrapped>{page === undefined ? name : <Link to={page}>{name}</Link>}</Wrapped>;
}

/** Its first characters, to distinguish requests; copying gives the whole ID for searching logs. */
function RequestId({ id }: { id: string }) {
  const short = id.length > SHORT ? `${id.slice(0, SHORT)}…` : id;
  return (
    <CopyToClipboard
      variant="inline"
      textToCopy={id}
      textToDisplay={
        <code className="code" title={id}>
          {short}
        </code>
      }
      copyButtonAriaLabel={`Copy request ID ${short}`}
      copySuccessText="Copied"
      copyErrorText={`Couldn't copy. The ID is ${id}`}
    />
  );
}
const SHORT = 8;
