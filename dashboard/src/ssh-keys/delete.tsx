// Asks before an SSH key is deleted.
import { useMutation } from "@tanstack/react-query";
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Ask } from "../resource/ask.tsx";

export function DeleteSshKey({ sshKey: { id, name }, onDismiss }: { sshKey: SshKey; onDismiss: () => void }) {
  const deletion = useMutation({
    mutationFn: () => client.sshKeys.delete({ params: { id } }),
    onSuccess: () => {
      notify({ id, type: "success", header: `SSH key deleted: ${name}` });
      onDismiss();
    },
  });
  return (
    <Ask
      title="Delete SSH key"
      confirm="Delete key"
      pending={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
      onDismiss={onDismiss}
    >
      <strong>{name}</strong> will no longer be available for new servers. Existing servers keep it. To revoke access, remove it
      from authorized_keys on each server.
    </Ask>
  );
}
