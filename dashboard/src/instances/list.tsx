// All instances.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Instance } from "../../../shared/api/instances.ts";
import { useFollow } from "../app/follow.ts";
import { Link } from "../app/link.tsx";
import { Page } from "../app/page.tsx";
import { instances } from "../app/queries.ts";
import { Status } from "../resource/status.tsx";
import { type Column, ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { Address } from "./address.tsx";
import { ServerLink } from "./server-link.tsx";

const COLUMNS: [Column<Instance>, ...Column<Instance>[]] = [
  { id: "name", header: "Name", cell: (instance) => <Name of={instance} /> },
  { id: "status", header: "Status", cell: ({ status }) => <Status of="instance" status={status} /> },
  { id: "address", header: "URL", long: true, cell: (instance) => <Address of={instance} /> },
  { id: "version", header: "Version", cell: ({ erp_version, edition }) => `${erp_version} ${edition}` },
  { id: "server", header: "Server", cell: ({ server_id }) => <ServerLink id={server_id} /> },
  { id: "created", header: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Instances() {
  const create = (
    <Button variant="primary" href="/instances/create" onFollow={useFollow()}>
      Create instance
    </Button>
  );
  return (
    <Page title="Instances" headless>
      <ResourceTable
        main
        title="Instances"
        description="Odoo instances on your servers, each with its own database, files and domain."
        list={instances.list}
        statuses="instance"
        columns={COLUMNS}
        actions={create}
        empty={
          <SpaceBetween size="s">
            <span>No instances yet.</span>
            {create}
          </SpaceBetween>
        }
      />
    </Page>
  );
}

const Name = ({ of: { id, name } }: { of: Instance }) => (
  <Wrapped>
    <Link to={`/instances/${id}`}>{name}</Link>
  </Wrapped>
);
