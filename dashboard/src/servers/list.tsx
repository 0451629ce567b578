// All servers.
import Box from "@cloudscape-design/components/box";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { Link } from "../app/link.tsx";
import { servers } from "../app/queries.ts";
import { CreateLink, ListPage } from "../resource/list-page.tsx";
import type { Column } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { ServerState } from "./state.tsx";
import { specsInWords } from "./specs.ts";

const COLUMNS: [Column<ListedServer>, ...Column<ListedServer>[]] = [
  { id: "name", header: "Name", cell: ({ id, name }) => <Link to={`/servers/${id}`}>{name}</Link> },
  { id: "status", header: "Status", cell: (server) => <ServerState server={server} /> },
  { id: "address", header: "IP address", cell: ({ ip_address }) => ip_address ?? "–" },
  { id: "place", header: "Provider and region", cell: ({ provider, region }) => `${provider}, ${region}` },
  { id: "size", header: "Size", cell: (server) => <Size of={server} /> },
  { id: "created", header: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Servers() {
  return (
    <ListPage
      title="Servers"
      description="The machines your instances run on."
      list={servers.list}
      filters={{ status: "server" }}
      columns={COLUMNS}
      add={<CreateLink to="/servers/create">Create server</CreateLink>}
      empty="No servers yet. Create one to host your first instance."
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
