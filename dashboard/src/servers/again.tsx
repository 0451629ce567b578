// What to do about a server whose last operation failed.
import Button from "@cloudscape-design/components/button";
import { useQuery } from "@tanstack/react-query";
import type { Server } from "../../../shared/api/servers.ts";
import { useFollow } from "../app/follow.ts";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";

interface Props {
  server: Server;
  onDelete: () => void;
}

export function Again({ server, onDelete }: Props) {
  const follow = useFollow();
  const last = useQuery(operations.list({ page: 1, per_page: 10, resource_id: server.id })).data?.data.find(
    ({ resource, status }) => resource.id === server.id && status === "failed",
  );
  if (server.operation_id !== null) return null;
  if (last?.type === "server.delete") return <Button onClick={onDelete}>{text.servers.detail.deleteAgain}</Button>;
  return (
    last?.type === "server.create" && (
      <Button href={`/servers/create?like=${server.id}`} onFollow={follow}>
        {text.servers.detail.createLike}
      </Button>
    )
  );
}
