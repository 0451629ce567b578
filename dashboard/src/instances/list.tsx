// All instances.
import Box from "@cloudscape-design/components/box";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { Link } from "../app/link.tsx";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { labelsColumn } from "../resource/list/labels.tsx";
import { CreateLink, ListPage, menuColumn } from "../resource/list/list-page.tsx";
import { shownOf, Status } from "../resource/words/status.tsx";
import type { Column } from "../resource/list/column.ts";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Address } from "./address.tsx";
import { InstancesBulk } from "./bulk.tsx";
import { InstanceFilters, instanceQuery } from "./filters.tsx";
import { InstanceMenu } from "./menu.tsx";
import { InstanceStatus, statusInWords } from "./instance-status.tsx";
import { ServerLink } from "./server-link.tsx";

/** Returns the server's name, or its ID for an API key that may not read servers. */
const serverNameOf = ({ server, server_id }: ListedInstance): string => server?.name ?? server_id;

const versionOf = ({ erp_version, edition }: ListedInstance) => `${erp_version} ${edition}`;

function columnsOf(): [Column<ListedInstance>, ...Column<ListedInstance>[]] {
  const { fields } = text.instances;
  return [
    { id: "name", header: fields.name, cell: (instance) => <Name of={instance} />, text: ({ name }) => name },
    {
      id: "status",
      header: fields.status,
      cell: (instance) => <InstanceStatus of={instance} />,
      text: statusInWords,
    },
    {
      id: "address",
      header: fields.url,
      cell: (instance) => (
        <Wrapped>
          <Address of={instance} />
        </Wrapped>
      ),
      text: ({ url }) => url,
    },
    { id: "version", header: fields.version, cell: (instance) => <Version of={instance} />, text: versionOf },
    {
      id: "server",
      header: fields.server,
      cell: ({ server_id, server }) => <ServerLink id={server_id} server={server} />,
      text: serverNameOf,
    },
    {
      id: "protection",
      header: fields.protection,
      cell: ({ protection }) => <Status of="protection" status={protection.status} />,
      text: ({ protection }) => shownOf("protection", protection.status).word,
    },
    labelsColumn,
    {
      id: "created",
      header: fields.created,
      hidden: true,
      cell: ({ created_at }) => <Time at={created_at} />,
      text: ({ created_at }) => created_at,
    },
    {
      id: "database",
      header: fields.databaseName,
      hidden: true,
      cell: ({ database_name }) => database_name,
      text: ({ database_name }) => database_name,
    },
    {
      id: "backup",
      header: fields.lastBackup,
      hidden: true,
      cell: ({ protection }) => <Time at={protection.last_backup_at} none={fields.never} />,
      text: ({ protection }) => protection.last_backup_at ?? "",
    },
    { id: "id", header: fields.id, hidden: true, cell: ({ id }) => id, text: ({ id }) => id },
    menuColumn((instance) => <InstanceMenu instance={instance} />),
  ];
}

export default function Instances() {
  return (
    <ListPage
      title={text.instances.title}
      description={text.instances.about}
      list={instances.list}
      searchable
      filters={{ status: "instance", protection: "protection", health: "health" }}
      narrowing={{ query: instanceQuery, Fields: InstanceFilters }}
      columns={columnsOf()}
      bulk={InstancesBulk}
      add={<CreateLink to="/instances/create">{text.instances.create.title}</CreateLink>}
      empty={text.instances.empty}
    />
  );
}

const Version = ({ of: instance }: { of: ListedInstance }) => (
  <>
    {versionOf(instance)}
    {instance.update_available === true && (
      <Box variant="small" display="block">
        {text.instances.updateAvailable}
      </Box>
    )}
  </>
);

const Name = ({ of: { id, name } }: { of: ListedInstance }) => (
  <Wrapped>
    <Link to={`/instances/${id}`}>{name}</Link>
  </Wrapped>
);
