// Asks before an instance is deleted.
import { useQuery } from "@tanstack/react-query";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { backups } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/deletion.tsx";
import { shownOf } from "../resource/status.tsx";
import { isUsable, type ServerOf } from "../allowed/instances.ts";

interface Props {
  instance: Instance;
  server: ServerOf | undefined;
  onDeleting: () => void;
  onDismiss: () => void;
}

export function DeleteInstance({ instance: { id, name, domain }, server, onDeleting, onDismiss }: Props) {
  const say = text.instances.delete;
  const { data: completed } = useQuery({ ...backups.listOf(id)({ status: "completed", per_page: 1 }), staleTime: 0 });
  return (
    <Deletion
      of={id}
      title={say.titleOf(name)}
      name={name}
      confirm={say.title}
      send={() => client.instances.delete({ params: { id } })}
      rehearse={() => client.instances.delete.dryRun({ params: { id } })}
      onDeleted={onDeleting}
      onDismiss={onDismiss}
    >
      {say.about(domain)}
      {completed !== undefined && completed.data.length > 0 && ` ${say.backupsKept}`}
      {server !== undefined && !isUsable(server) && ` ${say.recordOnly(server.name, shownOf("server", server.status).word)}`}
    </Deletion>
  );
}
