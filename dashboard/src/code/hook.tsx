// The deploy hook: made, replaced and removed; its URL is shown once.
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Code } from "../../../shared/api/code.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { whyNotEdit } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { client } from "../app/client.ts";
import type { Messages } from "../messages/en/index.ts";
import { text } from "../messages/text.ts";
import { Action } from "../resource/page/action.tsx";
import { Section } from "../resource/page/section.tsx";
import { Dialog } from "../resource/dialog/dialog.tsx";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";
import { Time } from "../resource/words/time.tsx";

type Change = keyof Messages["code"]["hook"]["changes"];

export function Hook({ instance, code: { hook, auto_deploy } }: { instance: ShownInstance; code: Code }) {
  const say = text.code.hook;
  const [change, setChange] = useState<Change>();
  const [url, setUrl] = useState<string>();
  const offer = (name: Change) => (
    <Action needs={INSTANCE_NEEDS.code} disabledReason={whyNotEdit(instance)} onClick={() => setChange(name)}>
      {say.changes[name].confirm}
    </Action>
  );
  return (
    <Section
      title={say.title}
      description={say.about}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          {hook !== null && offer("remove")}
          {offer(hook === null ? "make" : "rotate")}
        </SpaceBetween>
      }
    >
      <SpaceBetween size="s">
        {hook === null ? (
          say.none
        ) : (
          <KeyValuePairs
            columns={2}
            items={[
              { label: say.url, value: say.endsWith(hook.last4) },
              { label: say.lastUsed, value: <Time at={hook.last_used_at} exact none={say.never} /> },
            ]}
          />
        )}
        {hook !== null && auto_deploy === "off" && say.off}
      </SpaceBetween>
      {change !== undefined && (
        <ChangeHook instance={instance} change={change} onUrl={setUrl} onDismiss={() => setChange(undefined)} />
      )}
      {url !== undefined && (
        <SecretOnce title={say.title} valueName={say.hookUrl} value={url} onStored={() => setUrl(undefined)} />
      )}
    </Section>
  );
}

interface ChangeProps {
  instance: Pick<ShownInstance, "id" | "name">;
  change: Change;
  onUrl: (url: string | undefined) => void;
  onDismiss: () => void;
}

function ChangeHook({ instance: { id, name }, change, onUrl, onDismiss }: ChangeProps) {
  const { title, confirm, about } = text.code.hook.changes[change];
  const queryClient = useQueryClient();
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const send = () => client.code.rotateHook({ params: { id }, body: { enabled: change !== "remove" }, idempotencyKey });
  const sending = useMutation({
    mutationFn: send,
    onSuccess: async ({ data }) => {
      onUrl(data.hook_url ?? undefined);
      onDismiss();
      await queryClient.invalidateQueries({ queryKey: ["code"] });
    },
  });
  return (
    <Dialog
      title={title(name)}
      confirm={confirm}
      destructive={change !== "make"}
      pending={sending.isPending}
      error={sending.error}
      send={send}
      onConfirm={() => sending.mutate()}
      onDismiss={onDismiss}
    >
      {about}
    </Dialog>
  );
}
