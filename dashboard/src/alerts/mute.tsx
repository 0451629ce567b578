// Mutes an alert, or ends that.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Alert, update } from "../../../shared/api/alerts.ts";
import { isMuted, MUTED_DAYS_MAX } from "../../../shared/domain/alerts.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { useNoteLeftOut } from "../app/left-out.ts";
import { useMissing } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { alerts } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { inShort } from "../resource/moment.ts";
import { useEditForm } from "../resource/use-edit-form.ts";
import { Wrapped } from "../resource/wrapped.tsx";
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

const momentInWords = (at: string): string => (at === "" ? "" : inShort(at));

function noteMuted({ id, muted_until }: Alert): void {
  const say = text.alerts.mute;
  notify({ id, type: "success", header: muted_until === null ? say.unmuted : say.muted });
}

/** Whether mail is sent about an open alert, with the button that changes that. */
export function Mute({ alert }: { alert: Alert }) {
  const say = text.alerts.mute;
  const [asking, setAsking] = useState(false);
  const missing = useMissing()("settings:write");
  useNoteLeftOut(missing);
  const mayWrite = missing === undefined;
  const name = `${kindInWords(alert.kind)}, ${alert.resource.name}`;
  return (
    <>
      {isMuted(alert, new Date(serviceNow()).toISOString()) ? (
        <Muted alert={alert} name={name} mayWrite={mayWrite} />
      ) : (
        mayWrite && (
          <Button
            variant="inline-link"
            wrapText={false}
            ariaLabel={text.resource.list.act(say.action, name)}
            onClick={() => setAsking(true)}
          >
            {say.action}
          </Button>
        )
      )}
      {/* It stays when somebody else mutes the alert meanwhile. */}
      {asking && <MuteDialog alert={alert} name={name} onDismiss={() => setAsking(false)} />}
    </>
  );
}

function Muted({ alert: { id, muted_until }, name, mayWrite }: { alert: Alert; name: string; mayWrite: boolean }) {
  const say = text.alerts.mute;
  const unmuting = useMutation({
    mutationFn: () => client.alerts.update({ params: { id }, body: { muted_until: null } }),
    onSuccess: ({ data }) => noteMuted(data),
  });
  return (
    <Wrapped>
      <SpaceBetween size="xxs">
        {say.until(momentInWords(muted_until ?? ""))}
        {mayWrite && (
          <Button
            variant="inline-link"
            loading={unmuting.isPending}
            ariaLabel={text.resource.list.act(say.undo, name)}
            onClick={() => unmuting.mutate()}
          >
            {say.undo}
          </Button>
        )}
        {unmuting.error !== null && <Failure error={unmuting.error} />}
      </SpaceBetween>
    </Wrapped>
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
      noteMuted(data);
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
