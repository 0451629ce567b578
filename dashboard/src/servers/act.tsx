// Asks before a server is rebooted or updated, which interrupts its instances.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { ListedServer } from "../../../shared/api/servers.ts";
import type { ServerAction } from "../../../shared/domain/lifecycle.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog/dialog.tsx";
import { Forecast } from "../resource/dialog/forecast.tsx";

interface Props {
  action: ServerAction;
  server: Pick<ListedServer, "id" | "name">;
  onDismiss: () => void;
}

export function ActOnServer({ action, server: { id, name }, onDismiss }: Props) {
  // The same key until a response arrives: a retry after a lost response takes effect once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [params, body] = [{ id }, { action }];
  const send = () => client.servers.act({ params, body, idempotencyKey });
  const act = useMutation({ mutationFn: send, onSuccess: onDismiss });
  const say = text.servers.acting[action];
  return (
    <Dialog
      title={say.title(name)}
      confirm={say.confirm}
      pending={act.isPending}
      error={act.error}
      send={send}
      onConfirm={() => act.mutate()}
      onDismiss={onDismiss}
    >
      <Forecast rehearse={() => client.servers.act.dryRun({ params, body })} of={[id, action]} />
    </Dialog>
  );
}
