// All servers.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Server } from "../../../shared/api/servers.ts";
import { useFollow } from "../app/follow.ts";
import { Link } from "../app/link.tsx";
import { Page } from "../app/page.tsx";
import { servers } from "../app/queries.ts";
import { type Column, ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { ServerState } from "./state.tsx";
import { specsInWords } from "./specs.ts";

const COLUMNS: [Column<Server>, ...Column<Server>[]] = [
  { id: "name", header: "Name", cell: ({ id, name }) => <Link to={`/servers/${id}`}>{name}</Link> },
  { id: "status", header: "Status", cell: (server) => <ServerState server={server} /> },
  { id: "address", header: "IP address", cell: ({ ip_address }) => ip_address ?? "–" },
  { id: "place", header: "Provider and region", cell: ({ provider, region }) => `${provider}, ${region}` },
  { id: "size", header: "Size", cell: (server) => <Size of={server} /> },
  { id: "created", header: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Servers() {
  const create = (
    <Button variant="primary" href="/servers/create" onFollow={useFollow()}>
      Create server
    </Button>
  );
  return (
    <Page title="Servers" headless>
      <ResourceTable
        main
        title="Servers"
        description="The machines your instances run on."
        list={servers.list}
        statuses="server"
        columns={COLUMNS}
        actions={create}
        empty={
          <SpaceBetween size="s">
            <span>No servers yet. Create one to host your first instance.</span>
            {create}
          </SpaceBetween>
        }
      />
    </Page>
  );
}

function Size({ of: { size, specs } }: { of: Server }) {
  return (
    <Wrapped>
      {size}
      <Box variant="small" display="block">
        {specsInWords(specs)}
      </Box>
    </Wrapped>
  );
}
