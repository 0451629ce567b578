// Asks before an API key is revoked.
import { useMutation } from "@tanstack/react-query";
import type { Token } from "../../../shared/api/tokens.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Ask } from "../resource/ask.tsx";

export function RevokeApiKey({ token, onDismiss }: { token: Token; onDismiss: () => void }) {
  const { id, name, prefix, last4 } = token;
  const deletion = useMutation({
    mutationFn: () => client.tokens.delete({ params: { id } }),
    onSuccess: () => {
      notify({ id, type: "success", header: `API key revoked: ${name}` });
      onDismiss();
    },
  });
  return (
    <Ask
      title="Revoke API key"
      confirm="Revoke"
      pending={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
      onDismiss={onDismiss}
    >
      <strong>{name}</strong> ({prefix}…{last4}) stops working immediately. You can't undo this.
    </Ask>
  );
}
