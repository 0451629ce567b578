// Asks before a server is deleted.
import { useNavigate } from "react-router";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

export function DeleteServer({ server, onDismiss }: { server: ListedServer; onDismiss: () => void }) {
  const navigate = useNavigate();
  return (
    <Deletion
      of={server.id}
      title={text.servers.deletion.titleOf(server.name)}
      name={server.name}
      confirm={text.servers.deletion.title}
      send={() => client.servers.delete({ params: { id: server.id } })}
      rehearse={() => client.servers.delete.dryRun({ params: { id: server.id } })}
      words={{ server_deleted: text.servers.deletion.effect }}
      onDeleted={() => void navigate("/servers")}
      onDismiss={onDismiss}
    >
      {text.servers.deletion.about}
    </Deletion>
  );
}
