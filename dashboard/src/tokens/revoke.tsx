// Asks before an API key is revoked.
import type { Token } from "../../../shared/api/tokens.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Deletion } from "../resource/deletion.tsx";

export function RevokeApiKey({ token, onDismiss }: { token: Token; onDismiss: () => void }) {
  const { id, name, prefix, last4 } = token;
  return (
    <Deletion
      title="Revoke API key"
      confirm="Revoke"
      send={() => client.tokens.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: `API key revoked: ${name}` });
        onDismiss();
      }}
      onDismiss={onDismiss}
    >
      <strong>{name}</strong> ({prefix}…{last4}) stops working immediately. You can't undo this.
    </Deletion>
  );
}
