// Mutes an alert, or ends that.
import Button from "@cloudscape-design/components/button";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Alert } from "../../../shared/api/alerts.ts";
import { isMuted } from "../../../shared/domain/alerts.ts";
import { client } from "../app/client.ts";
import { FailureNote } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import { May } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { serviceNow } from "../session/clock.ts";
import { momentInWords, notifyMuted } from "./muted.ts";
import { kindInWords } from "./words.ts";

const MuteDialog = lazily(async () => (await import("./mute-dialog.tsx")).MuteDialog);

const isMutedNow = (alert: Alert): boolean => isMuted(alert, new Date(serviceNow()).toISOString());

/** Returns until when no mail is sent about the alert; empty if mail is sent. */
export const mutedInWords = (alert: Alert): string =>
  isMutedNow(alert) ? text.alerts.mute.until(momentInWords(alert.muted_until ?? "")) : "";

const NEEDS = "settings:write";

/** Mutes an open alert, or ends that. */
function useMute(alert: Alert) {
  const { id } = alert;
  const say = text.alerts.mute;
  const [asking, setAsking] = useState(false);
  const name = `${kindInWords(alert.kind)}, ${alert.resource.name}`;
  const unmuting = useMutation({
    mutationFn: () => client.alerts.update({ params: { id }, body: { muted_until: null } }),
    onSuccess: ({ data }) => notifyMuted(data),
    onError: (error) => notify({ id, type: "error", header: say.notUnmuted, content: <FailureNote error={error} /> }),
  });
  return {
    name,
    action: isMutedNow(alert) ? say.undo : say.action,
    act: () => (isMutedNow(alert) ? unmuting.mutate() : setAsking(true)),
    isPending: unmuting.isPending,
    // It stays when somebody else mutes the alert meanwhile.
    dialog: asking && <MuteDialog alert={alert} name={name} onDismiss={() => setAsking(false)} />,
  };
}

/** Whether mail is sent about an open alert, with the button that changes that. */
export function Mute({ alert }: { alert: Alert }) {
  const { name, action, act, isPending, dialog } = useMute(alert);
  return (
    <>
      {mutedInWords(alert)}{" "}
      <May needs={[NEEDS]}>
        <Button
          variant="inline-link"
          wrapText={false}
          loading={isPending}
          ariaLabel={text.resource.list.act(action, name)}
          onClick={act}
        >
          {action}
        </Button>
      </May>
      {dialog}
    </>
  );
}

/** The same in a row's menu. */
export function AlertMenu({ alert }: { alert: Alert }) {
  const { name, action, act, dialog } = useMute(alert);
  return (
    <>
      <RowMenu label={text.resource.list.actionsOn(name)} items={[{ id: "mute", text: action, needs: [NEEDS] }]} onChoose={act} />
      {dialog}
    </>
  );
}
