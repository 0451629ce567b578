// What to do about a server whose last operation failed.
import Button from "@cloudscape-design/components/button";
import { useQuery } from "@tanstack/react-query";
import type { Server } from "../../../shared/api/servers.ts";
import { SERVER_NEEDS } from "../allowed/needs.ts";
import { useFollow } from "../app/follow.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";

interface Props {
  server: Server;
  onDelete: () => void;
}

export function Again({ server, onDelete }: Props) {
  const follow = useFollow();
  const may = useMay();
  const last = useQuery({
    ...operations.list({ page: 1, per_page: 10, resource_id: server.id }),
    enabled: may(...needsOf("/operations")),
  }).data?.data.find(({ resource, status }) => resource.id === server.id && status === "failed");
  if (server.operation_id !== null || !may(...SERVER_NEEDS.delete)) return null;
  if (last?.type === "server.delete") return <Button onClick={onDelete}>{text.servers.detail.deleteAgain}</Button>;
  return (
    last?.type === "server.create" && (
      <Button href={`/servers/create?again=${server.id}`} onFollow={follow}>
        {text.servers.detail.createAgain}
      </Button>
    )
  );
}
