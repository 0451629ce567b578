// All servers.
import Box from "@cloudscape-design/components/box";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { Link } from "../app/link.tsx";
import { servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import { labelsColumn } from "../resource/list/labels.tsx";
import { CreateLink, ListPage, menuColumn } from "../resource/list/list-page.tsx";
import type { Column } from "../resource/list/column.ts";
import { formatCount } from "../resource/words/number.ts";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { ServersBulk } from "./bulk.tsx";
import { ServerFilters, serverQuery } from "./filters.tsx";
import { ServerMenu } from "./menu.tsx";
import { diskUse, memoryUse } from "./reported.tsx";
import { ServerState, serverStatusInWords } from "./state.tsx";
import { specsInWords } from "./specs.ts";

const placeOf = ({ provider, region }: ListedServer) => `${provider}, ${region}`;

function columns(): [Column<ListedServer>, ...Column<ListedServer>[]] {
  const say = text.servers.fields;
  return [
    {
      id: "name",
      header: say.name,
      cell: ({ id, name, name_unicode }) => (
        <Link to={`/servers/${id}`}>
          <AsciiAndUnicode ascii={name} unicode={name_unicode} />
        </Link>
      ),
      text: ({ name }) => name,
    },
    { id: "status", header: say.status, cell: (server) => <ServerState server={server} />, text: serverStatusInWords },
    {
      id: "address",
      header: say.address,
      cell: ({ ip_address }) => ip_address ?? "–",
      text: ({ ip_address }) => ip_address ?? "",
      isEmpty: ({ ip_address }) => ip_address === null,
    },
    { id: "place", header: say.region, cell: (server) => <PlaceOf of={server} />, text: placeOf },
    {
      id: "size",
      header: say.size,
      cell: (server) => <Size of={server} />,
      text: ({ size, specs }) => `${size}: ${specsInWords(specs)}`,
    },
    {
      id: "instances",
      header: text.servers.instances.title,
      cell: ({ instance_count }) => formatCount(instance_count),
      text: ({ instance_count }) => String(instance_count),
    },
    ...usageColumns(),
    labelsColumn,
    {
      id: "created",
      header: say.created,
      hidden: true,
      cell: ({ created_at }) => <Time at={created_at} />,
      text: ({ created_at }) => created_at,
    },
    { id: "id", header: say.id, hidden: true, cell: ({ id }) => id, text: ({ id }) => id },
    menuColumn((server) => <ServerMenu server={server} />),
  ];
}

/** What a server has used of its disk and its memory; a file has what is free, as a number. */
function usageColumns(): Column<ListedServer>[] {
  const say = text.servers.fields;
  return [
    {
      id: "disk",
      header: say.disk,
      cell: (server) => <Wrapped>{diskUse(server)}</Wrapped>,
      textHeader: say.diskFree,
      text: ({ disk_free_bytes }) => String(disk_free_bytes ?? ""),
      isEmpty: ({ disk_free_bytes }) => disk_free_bytes === null,
    },
    {
      id: "memory",
      header: say.memory,
      cell: (server) => <Wrapped>{memoryUse(server)}</Wrapped>,
      textHeader: say.memoryFree,
      text: ({ memory_free_bytes }) => String(memory_free_bytes ?? ""),
      isEmpty: ({ memory_free_bytes }) => memory_free_bytes === null,
    },
  ];
}

export default function Servers() {
  const say = text.servers;
  return (
    <ListPage
      title={say.title}
      description={say.about}
      list={servers.list}
      searchable
      filters={{ status: "server" }}
      narrowing={{ query: serverQuery, Fields: ServerFilters, placeholder: say.filters.placeholder }}
      columns={columns()}
      bulk={ServersBulk}
      add={<CreateLink to="/servers/create">{say.create}</CreateLink>}
      empty={say.empty}
    />
  );
}

function Size({ of: { size, specs } }: { of: ListedServer }) {
  return (
    <Wrapped>
      {size}
      <Box variant="small" display="block">
        {specsInWords(specs)}
      </Box>
    </Wrapped>
  );
}

function PlaceOf({ of: { provider, region } }: { of: ListedServer }) {
  return (
    <Wrapped>
      {region}
      <Box variant="small" display="block">
        {provider}
      </Box>
    </Wrapped>
  );
}
