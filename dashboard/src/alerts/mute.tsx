// Mutes an alert, or ends that.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Alert, update } from "../../../shared/api/alerts.ts";
import { isMuted, MUTED_DAYS_MAX } from "../../../shared/domain/alerts.ts";
import { client } from "../app/client.ts";
import { FailureNote } from "../app/failure.tsx";
import { May } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { alerts } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { formatTime } from "../resource/words/moment.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { serviceNow } from "../session/clock.ts";
import { kindInWords } from "./words.ts";

const HOUR_MS = 3_600_000;
const HOURS = [1, 24, 7 * 24, MUTED_DAYS_MAX * 24] as const;
const PROPOSED = "24";

interface Values {
  /** Empty until the user has chosen. */
  hours: string;
  until: string;
}

const lengthInWords = (hours: number): string => (hours < 24 ? text.alerts.mute.hours(hours) : text.alerts.mute.days(hours / 24));

/** The longest is not rejected because the clocks differ. */
const muteFor = (hours: number): string => new Date(serviceNow() + hours * HOUR_MS - 60_000).toISOString();

const momentInWords = (at: string): string => (at === "" ? "" : formatTime(at));

function notifyMuted({ id, muted_until }: Alert): void {
  const say = text.alerts.mute;
  notify({ id, type: "success", header: muted_until === null ? say.unmuted : say.muted });
}

const isMutedNow = (alert: Alert): boolean => isMuted(alert, new Date(serviceNow()).toISOString());

/** Until when no mail is sent about it; empty if mail is sent. */
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

function MuteDialog({ alert, name, onDismiss }: { alert: Alert; name: string; onDismiss: () => void }) {
  const { id } = alert;
  const say = text.alerts.mute;
  const form = useEditForm({
    of: id,
    record: alert,
    question: alerts.one(id),
    values: ({ muted_until }: Alert): Values => ({ hours: "", until: muted_until ?? "" }),
    shown: ({ hours, until }) => ({ [say.label]: momentInWords(hours === "" ? until : muteFor(Number(hours))) }),
    isWhole: true,
    schema: update().body,
    body: ({ hours }) => ({ muted_until: muteFor(Number(hours)) }),
    send: (_changed, version, body) => client.alerts.update({ params: { id }, body, ...version }),
    done: ({ data }) => {
      notifyMuted(data);
      onDismiss();
    },
  });
  const { hours } = form.values;
  const { set } = form;
  // The proposal is the user's: what somebody else chooses meanwhile is shown beside it.
  useEffect(() => {
    if (hours === "") set({ hours: PROPOSED });
  }, [hours, set]);
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.action} onDismiss={onDismiss}>
      {say.about}
      <FormField label={say.for}>
        <RadioGroup
          value={hours === "" ? PROPOSED : hours}
          items={HOURS.map((each) => ({ value: String(each), label: lengthInWords(each) }))}
          onChange={({ detail }) => set({ hours: detail.value })}
        />
      </FormField>
    </FormDialog>
  );
}
