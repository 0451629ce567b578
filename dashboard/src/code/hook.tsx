// The deploy hook: made, replaced and removed; its URL is shown once.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Code } from "../../../shared/api/code.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { whyNotEdit } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { text } from "../messages/text.ts";
import { Action } from "../resource/action.tsx";
import { SecretOnce } from "../resource/secret-once.tsx";
import { Time } from "../resource/time.tsx";

export function Hook({ instance, code: { hook, auto_deploy } }: { instance: ShownInstance; code: Code }) {
  const say = text.code.hook;
  const queryClient = useQueryClient();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [url, setUrl] = useState<string>();
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      client.code.rotateHook({ params: { id: instance.id }, body: { enabled }, idempotencyKey: `${key} ${enabled}` }),
    onSuccess: async ({ data }) => {
      setKey(crypto.randomUUID());
      setUrl(data.hook_url ?? undefined);
      await queryClient.invalidateQueries({ queryKey: ["code"] });
    },
  });
  const shared = { needs: INSTANCE_NEEDS.code, disabledReason: whyNotEdit(instance), pending: change.isPending };
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={say.about}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              {hook !== null && (
                <Action {...shared} onClick={() => change.mutate(false)}>
                  {say.remove}
                </Action>
              )}
              <Action {...shared} onClick={() => change.mutate(true)}>
                {hook === null ? say.make : say.rotate}
              </Action>
            </SpaceBetween>
          }
        >
          {say.title}
        </Header>
      }
    >
      <SpaceBetween size="s">
        {change.error !== null && <Failure error={change.error} />}
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
      {url !== undefined && <SecretOnce title={say.title} what={say.made} value={url} onStored={() => setUrl(undefined)} />}
    </Container>
  );
}
