// A server's status; one that is being deleted is "offline" in the API, and "Deleting" here.
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { LIFECYCLE } from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { shownOf, Status } from "../resource/words/status.tsx";
import { phasesOf } from "../allowed/servers.ts";

const isDeleting = (server: ListedServer): boolean => phasesOf(server).includes(LIFECYCLE["server.delete"].through);

export const serverStatusInWords = (server: ListedServer): string =>
  isDeleting(server) ? text.servers.deleting : shownOf("server", server.status).word;

export function ServerState({ server }: { server: ListedServer }) {
  if (isDeleting(server)) return <StatusIndicator type="in-progress">{text.servers.deleting}</StatusIndicator>;
  return <Status of="server" status={server.status} />;
}
