// The API calls behind a webhook's actions that have no dialog of their own.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useState } from "react";
import type { Webhook } from "../../../shared/api/webhooks.ts";
import { client, type Send } from "../app/client.ts";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";

const ApiCallDialog = lazily(async () => (await import("../resource/dialog/api-call.tsx")).ApiCallDialog);

export function Calls({ webhook: { id, created_at, failing_since } }: { webhook: Webhook }) {
  const [open, setOpen] = useState<string>();
  const { title, names } = text.webhooks.calls;
  const params = { id };
  const body = {};
  const sends = {
    test: () => client.webhooks.test({ params, body, idempotencyKey: crypto.randomUUID() }),
    rotate: () => client.webhooks.rotateSecret({ params, body, idempotencyKey: crypto.randomUUID() }),
    redeliver: () =>
      client.webhooks.redeliver({ params: { id, delivery_id: "DELIVERY_ID" }, body, idempotencyKey: crypto.randomUUID() }),
    redeliverFailed: () =>
      client.webhooks.redeliverFailed({
        params,
        body: { since: failing_since ?? created_at },
        idempotencyKey: crypto.randomUUID(),
      }),
  } satisfies Record<keyof typeof names, Send>;
  const [openCall] = Object.entries(sends).filter(([name]) => name === open);
  return (
    <>
      <ButtonDropdown
        items={[
          { id: "test", text: names.test },
          { id: "rotate", text: names.rotate },
          { id: "redeliver", text: names.redeliver },
          { id: "redeliverFailed", text: names.redeliverFailed },
        ]}
        onItemClick={({ detail }) => setOpen(detail.id)}
      >
        {title}
      </ButtonDropdown>
      {openCall !== undefined && <ApiCallDialog title={title} send={openCall[1]} onDismiss={() => setOpen(undefined)} />}
    </>
  );
}
