// A server's status; one that is being deleted is "offline" in the API, and "Deleting" here.
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { LIFECYCLE } from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { Status } from "../resource/status.tsx";
import { phasesOf } from "../allowed/servers.ts";

export function ServerState({ server }: { server: ListedServer }) {
  if (phasesOf(server).includes(LIFECYCLE["server.delete"].through))
    return <StatusIndicator type="in-progress">{text.servers.deleting}</StatusIndicator>;
  return <Status of="server" status={server.status} />;
}
