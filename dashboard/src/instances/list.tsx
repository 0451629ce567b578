// All instances.
import type { Instance } from "../../../shared/api/instances.ts";
import { Link } from "../app/link.tsx";
import { instances } from "../app/queries.ts";
import { CreateLink, ListPage } from "../resource/list-page.tsx";
import { Status } from "../resource/status.tsx";
import type { Column } from "../resource/table.tsx";
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
  { id: "protection", header: "Protection", cell: ({ protection }) => <Status of="protection" status={protection.status} /> },
  { id: "created", header: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Instances() {
  return (
    <ListPage
      title="Instances"
      description="Odoo instances on your servers, each with its own database, files and domain."
      list={instances.list}
      filters={{ status: "instance", protection: "protection" }}
      columns={COLUMNS}
      add={<CreateLink to="/instances/create">Create instance</CreateLink>}
      empty="No instances yet."
    />
  );
}

const Name = ({ of: { id, name } }: { of: Instance }) => (
  <Wrapped>
    <Link to={`/instances/${id}`}>{name}</Link>
  </Wrapped>
);
