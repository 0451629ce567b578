// Asks before a server is given back.
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { Server } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { Confirm } from "../resource/confirm.tsx";

export function DeleteServer({ server, onDismiss }: { server: Server; onDismiss: () => void }) {
  const navigate = useNavigate();
  const deletion = useMutation({
    mutationFn: () => client.servers.delete({ params: { id: server.id } }),
    onSuccess: () => navigate("/servers"),
  });
  return (
    <Confirm
      title="Delete server"
      name={server.name}
      confirm="Delete server"
      pending={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
      onDismiss={onDismiss}
    >
      This permanently deletes the machine and everything on it.
    </Confirm>
  );
}
