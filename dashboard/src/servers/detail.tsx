// One server: its details, its instances and its operations; rename, delete.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { useFollow } from "../app/follow.ts";
import { Link } from "../app/link.tsx";
import { Page } from "../app/page.tsx";
import { instances, servers, sshKeys } from "../app/queries.ts";
import { isUsable } from "../allowed/instances.ts";
import { Progress } from "../operations/progress.tsx";
import { OperationsTable } from "../operations/table.tsx";
import { Action } from "../resource/action.tsx";
import { Copyable } from "../resource/copyable.tsx";
import { Loaded } from "../resource/loaded.tsx";
import { Reason } from "../resource/reason.tsx";
import { Status } from "../resource/status.tsx";
import { type Column, ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { whyNotDelete, whyNotRename } from "../allowed/servers.ts";
import { DeleteServer } from "./delete.tsx";
import { RenameServer } from "./rename.tsx";
import { ServerState } from "./state.tsx";
import { specsInWords } from "./specs.ts";

const ABOVE = [{ text: "Servers", href: "/servers" }];

export default function ServerDetail() {
  const { id = "" } = useParams();
  return (
    <Loaded kind="Server" above={ABOVE} question={servers.one(id)}>
      {(server) => <Shown key={server.id} server={server} />}
    </Loaded>
  );
}

function Shown({ server }: { server: Server }) {
  const [dialog, setDialog] = useState<"rename" | "delete">();
  const held = useQuery(instances.list({ server_id: server.id, page: 1, per_page: INSTANCES }));
  return (
    <Page
      title={server.name}
      above={ABOVE}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Action disabledReason={whyNotRename(server)} onClick={() => setDialog("rename")}>
            Rename
          </Action>
          <Action disabledReason={whyNotDelete(server, held.data?.meta.total)} onClick={() => setDialog("delete")}>
            Delete
          </Action>
        </SpaceBetween>
      }
    >
      <Progress id={server.operation_id} />
      <Reason of={server} />
      <Facts server={server} />
      <InstancesOf server={server} />
      <OperationsTable resourceId={server.id} />
      {dialog === "rename" && <RenameServer server={server} onDismiss={() => setDialog(undefined)} />}
      {dialog === "delete" && <DeleteServer server={server} onDismiss={() => setDialog(undefined)} />}
    </Page>
  );
}

function Facts({ server }: { server: Server }) {
  const key = useQuery(sshKeys.one(server.ssh_key_id));
  return (
    <Container header={<Header variant="h2">Details</Header>}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: "Status", value: <ServerState server={server} /> },
          {
            label: "IP address",
            value: server.ip_address === null ? "Not assigned yet" : <Copyable value={server.ip_address} what="IP address" />,
          },
          { label: "Last seen", value: <Time at={server.last_seen_at} none="Never" /> },
          { label: "Created", value: <Time at={server.created_at} /> },
          { label: "Provider", value: server.provider },
          { label: "Region", value: server.region },
          { label: "Size", value: `${server.size}: ${specsInWords(server.specs)}` },
          { label: "SSH key", value: key.data?.data.name ?? (key.isError ? "Deleted (still installed on the server)" : "…") },
          { label: "ID", value: <Copyable value={server.id} what="ID" code /> },
        ]}
      />
    </Container>
  );
}

const INSTANCES = 10;
const INSTANCE_COLUMNS: [Column<Instance>, ...Column<Instance>[]] = [
  { id: "name", header: "Name", cell: ({ id, name }) => <Link to={`/instances/${id}`}>{name}</Link> },
  { id: "status", header: "Status", cell: ({ status }) => <Status of="instance" status={status} /> },
  { id: "domain", header: "Domain", cell: ({ domain }) => domain },
  { id: "version", header: "Version", cell: ({ erp_version, edition }) => `${erp_version} ${edition}` },
];

function InstancesOf({ server }: { server: Server }) {
  const follow = useFollow();
  return (
    <ResourceTable
      title="Instances"
      list={instances.list}
      only={{ server_id: server.id }}
      prefix="instances"
      perPage={INSTANCES}
      columns={INSTANCE_COLUMNS}
      empty="No instances on this server yet."
      actions={
        <Button
          href={`/instances/create?server=${server.id}`}
          onFollow={follow}
          disabled={!isUsable(server)}
          {...(!isUsable(server) && { disabledReason: "The server must be active." })}
        >
          Create instance
        </Button>
      }
    />
  );
}
