// Mutes an alert, or ends that.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Alert } from "../../../shared/api/alerts.ts";
import { isMuted, MUTED_DAYS_MAX } from "../../../shared/domain/alerts.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { useNoteLeftOut } from "../app/left-out.ts";
import { useMissing } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog.tsx";
import { inShort } from "../resource/moment.ts";
import { Wrapped } from "../resource/wrapped.tsx";
import { serviceNow } from "../session/clock.ts";
import { kindInWords } from "./words.ts";

const HOUR_MS = 3_600_000;
const HOURS = [1, 24, 7 * 24, MUTED_DAYS_MAX * 24] as const;

const lengthInWords = (hours: number): string => (hours < 24 ? text.alerts.mute.hours(hours) : text.alerts.mute.days(hours / 24));

/** The longest is not rejected because the clocks differ. */
const muteFor = (hours: number): string => new Date(serviceNow() + hours * HOUR_MS - 60_000).toISOString();

function useMute({ id }: Alert, done: () => void) {
  return useMutation({
    mutationFn: (muted_until: string | null) => client.alerts.update({ params: { id }, body: { muted_until } }),
    onSuccess: ({ data }) => {
      const say = text.alerts.mute;
      notify({ id, type: "success", header: data.muted_until === null ? say.unmuted : say.muted });
      done();
    },
  });
}

/** Whether mail is sent about an open alert, with the button that changes that. */
export function Mute({ alert }: { alert: Alert }) {
  const say = text.alerts.mute;
  const [asking, setAsking] = useState(false);
  const missing = useMissing()("settings:write");
  useNoteLeftOut(missing);
  const mayWrite = missing === undefined;
  const unmuting = useMute(alert, () => undefined);
  const name = `${kindInWords(alert.kind)}, ${alert.resource.name}`;
  const { muted_until } = alert;
  if (muted_until !== null && isMuted(alert, new Date(serviceNow()).toISOString()))
    return (
      <Wrapped>
        <SpaceBetween size="xxs">
          {say.until(inShort(muted_until))}
          {mayWrite && (
            <Button
              variant="inline-link"
              loading={unmuting.isPending}
              ariaLabel={text.resource.list.act(say.undo, name)}
              onClick={() => unmuting.mutate(null)}
            >
              {say.undo}
            </Button>
          )}
          {unmuting.error !== null && <Failure error={unmuting.error} />}
        </SpaceBetween>
      </Wrapped>
    );
  if (!mayWrite) return null;
  return (
    <>
      <Button
        variant="inline-link"
        wrapText={false}
        ariaLabel={text.resource.list.act(say.action, name)}
        onClick={() => setAsking(true)}
      >
        {say.action}
      </Button>
      {asking && <MuteDialog alert={alert} name={name} onDismiss={() => setAsking(false)} />}
    </>
  );
}

function MuteDialog({ alert, name, onDismiss }: { alert: Alert; name: string; onDismiss: () => void }) {
  const say = text.alerts.mute;
  const [hours, setHours] = useState<number>(24);
  const muting = useMute(alert, onDismiss);
  return (
    <Dialog
      title={say.title(name)}
      confirm={say.action}
      pending={muting.isPending}
      error={muting.error}
      send={() => client.alerts.update({ params: { id: alert.id }, body: { muted_until: muteFor(hours) } })}
      onConfirm={() => muting.mutate(muteFor(hours))}
      onDismiss={onDismiss}
    >
      {say.about}
      <FormField label={say.for}>
        <RadioGroup
          value={String(hours)}
          items={HOURS.map((each) => ({ value: String(each), label: lengthInWords(each) }))}
          onChange={({ detail }) => setHours(Number(detail.value))}
        />
      </FormField>
    </Dialog>
  );
}
