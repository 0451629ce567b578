// Asks an owner before the second factors of somebody are removed who has lost them.
import type { AccountUser } from "../../../shared/api/users.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

export function RemoveFactors({ user: { id, name, email }, onDismiss }: { user: AccountUser; onDismiss: () => void }) {
  const say = text.people.factors;
  return (
    <Deletion
      of={id}
      title={say.title(name)}
      confirm={say.action}
      send={() => client.users.deleteSecondFactors({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: say.removed(name) });
        onDismiss();
      }}
      onDismiss={onDismiss}
    >
      {say.about(name, email)} {say.onlyIf}
    </Deletion>
  );
}
