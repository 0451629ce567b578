// Asks before somebody is removed from the account, and what becomes of their API keys.
import Checkbox from "@cloudscape-design/components/checkbox";
import { useState } from "react";
import type { AccountUser } from "../../../shared/api/users.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

export function RemoveUser({ user: { id, name, email, sso }, onDismiss }: { user: AccountUser; onDismiss: () => void }) {
  const say = text.people.removal;
  const [revokes, setRevokes] = useState(false);
  const send = async () => {
    const { data } = await client.users.delete({ params: { id }, query: { revoke_tokens: String(revokes) } });
    const keys = data.tokens.map((token) => token.name);
    const content = keys.length === 0 ? undefined : revokes ? say.revokedKeys(keys) : say.keptKeys(keys);
    notify({ id, type: "success", header: say.removed(name), content });
  };
  return (
    <Deletion
      of={id}
      title={say.title(name)}
      confirm={say.confirm}
      send={send}
      onDeleted={onDismiss}
      onDismiss={onDismiss}
      options={
        <Checkbox checked={revokes} description={say.revokeAbout} onChange={({ detail }) => setRevokes(detail.checked)}>
          {say.revoke}
        </Checkbox>
      }
    >
      {say.about(name, email)} {sso && say.comesBack}
    </Deletion>
  );
}
