// The details of an instance.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useQuery } from "@tanstack/react-query";
import type { Instance } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { ClientError } from "../../../shared/api/client.ts";
import { Link } from "../app/link.tsx";
import { backups } from "../app/queries.ts";
import { momentOf } from "../backups/words.ts";
import { Copyable } from "../resource/copyable.tsx";
import { Status } from "../resource/status.tsx";
import { Time } from "../resource/time.tsx";
import { Address } from "./address.tsx";

export function Facts({ instance, server }: { instance: Instance; server: ListedServer | undefined }) {
  const { cloned_from_backup_id: origin, server_id, neutralized } = instance;
  return (
    <Container header={<Header variant="h2">Details</Header>}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: "Status", value: <Status of="instance" status={instance.status} /> },
          { label: "URL", value: <Address of={instance} /> },
          { label: "Server", value: <Link to={`/servers/${server_id}`}>{server?.name ?? server_id}</Link> },
          { label: "Version", value: instance.erp_version },
          { label: "Edition", value: instance.edition },
          { label: "Database name", value: <Copyable value={instance.database_name} what="database name" code /> },
          { label: "Admin email", value: <Copyable value={instance.admin_email} what="admin email" /> },
          { label: "Created", value: <Time at={instance.created_at} /> },
          ...(origin === null ? [] : [{ label: "Cloned from", value: <Origin backupId={origin} /> }]),
          { label: "Scheduled actions, email and payments", value: neutralized ? "Off (neutralized)" : "Unchanged" },
          { label: "ID", value: <Copyable value={instance.id} what="ID" code /> },
        ]}
      />
    </Container>
  );
}

/** The backup and its instance may have been deleted since. */
function Origin({ backupId }: { backupId: string }) {
  const { data, error } = useQuery(backups.one(backupId));
  if (data === undefined) return error instanceof ClientError && error.code === "NOT_FOUND" ? "A deleted backup" : "…";
  const { instance_id, instance_name } = data.data;
  return (
    <>
      <Link to={`/instances/${instance_id}`}>{instance_name}</Link>, backup of {momentOf(data.data)}
    </>
  );
}
