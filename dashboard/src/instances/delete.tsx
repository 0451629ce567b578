// Asks before an instance is deleted.
import { useMutation } from "@tanstack/react-query";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { Confirm } from "../resource/confirm.tsx";
import { isUsable } from "./allowed.ts";

interface Props {
  instance: Instance;
  server: Server | undefined;
  onDeleting: () => void;
  onDismiss: () => void;
}

export function DeleteInstance({ instance: { id, name, domain }, server, onDeleting, onDismiss }: Props) {
  const deletion = useMutation({
    mutationFn: () => client.instances.delete({ params: { id } }),
    onSuccess: onDeleting,
  });
  return (
    <Confirm
      title="Delete instance"
      name={name}
      confirm="Delete instance"
      pending={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
      onDismiss={onDismiss}
    >
      Its database and its files are deleted, and {domain} answers no more. This cannot be undone. Its backups stay: a new
      instance can be cloned from them.
      {server !== undefined && !isUsable(server) && (
        <>
          {" "}
          The server {server.name} is {server.status}: only the record is removed, and what is on the machine stays there.
        </>
      )}
    </Confirm>
  );
}
