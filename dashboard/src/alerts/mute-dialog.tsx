// Asks for how long an alert is muted. Its form is loaded with it.
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useEffect } from "react";
import { type Alert, update } from "../../../shared/api/alerts.ts";
import { MUTED_DAYS_MAX } from "../../../shared/domain/alerts.ts";
import { client } from "../app/client.ts";
import { alerts } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { serviceNow } from "../session/clock.ts";
import { momentInWords, notifyMuted } from "./muted.ts";
import { HOUR_MS, MINUTE_MS } from "../../../shared/domain/durations.ts";

const HOURS = [1, 24, 7 * 24, MUTED_DAYS_MAX * 24] as const;
const PROPOSED = "24";

interface Values {
  /** Empty until the user has chosen. */
  hours: string;
  until: string;
}

const lengthInWords = (hours: number): string => (hours < 24 ? text.alerts.mute.hours(hours) : text.alerts.mute.days(hours / 24));

/** The longest is not rejected because the clocks differ. */
const muteFor = (hours: number): string => new Date(serviceNow() + hours * HOUR_MS - MINUTE_MS).toISOString();

export function MuteDialog({ alert, name, onDismiss }: { alert: Alert; name: string; onDismiss: () => void }) {
  const { id } = alert;
  const say = text.alerts.mute;
  const form = useEditForm({
    of: id,
    record: alert,
    question: alerts.one(id),
    values: ({ muted_until }: Alert): Values => ({ hours: "", until: muted_until ?? "" }),
    describe: ({ hours, until }) => ({ [say.label]: momentInWords(hours === "" ? until : muteFor(Number(hours))) }),
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
