// The actions of one webhook, in its row of the list.
import { useState } from "react";
import type { Webhook } from "../../../shared/api/webhooks.ts";
import { lazily } from "../app/lazily.tsx";
import type { Need } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";

const EditWebhook = lazily(async () => (await import("./edit.tsx")).EditWebhook);
const DeleteWebhook = lazily(async () => (await import("./delete.tsx")).DeleteWebhook);

const NEEDS: readonly Need[] = ["settings:write"];

export function WebhookMenu({ webhook }: { webhook: Webhook }) {
  const { actionsOf, detail: say } = text.webhooks;
  const [dialog, setDialog] = useState<string>();
  const dismiss = () => setDialog(undefined);
  return (
    <>
      <RowMenu
        label={actionsOf(webhook.name)}
        items={[
          { id: "edit", text: say.edit, needs: NEEDS },
          { id: "delete", text: say.delete, needs: NEEDS },
        ]}
        onChoose={setDialog}
      />
      {dialog === "edit" && <EditWebhook webhook={webhook} onDismiss={dismiss} />}
      {dialog === "delete" && <DeleteWebhook webhook={webhook} onDeleted={dismiss} onDismiss={dismiss} />}
    </>
  );
}
