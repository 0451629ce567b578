// Chooses when an API key expires: after a common time, on a date, or never.
import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import { dayIn, useZone } from "../resource/words/moment.ts";
import { choicesWithin, endOf, type Expiry, isExpiry } from "./expiry.ts";

interface Props {
  expiry: Expiry;
  date: string;
  error: string | undefined;
  /** How many days a key may live; null: any number. */
  maxDays: number | null;
  onChange: (changed: { expiry?: Expiry; date?: string }) => void;
}

const day = new Intl.DateTimeFormat(locale, { dateStyle: "full" });

export function ExpiryField({ expiry, date, error, maxDays, onChange }: Props) {
  const say = text.tokens.expiry;
  useZone();
  const end = endOf(expiry, date);
  const longest = maxDays === null ? say.choices.never : say.longest(maxDays);
  const options = choicesWithin(maxDays).map((value) => ({ value, label: value === "never" ? longest : say.choices[value] }));
  return (
    <SpaceBetween size="m">
      <FormField
        label={say.title}
        description={say.about}
        constraintText={
          end === undefined ? maxDays === null && say.untilRevoked : end !== null && say.endOf(day.format(dayIn(end.getTime())))
        }
      >
        <Select
          options={options}
          selectedOption={options.find(({ value }) => value === expiry) ?? null}
          onChange={({ detail: { selectedOption } }) =>
            isExpiry(selectedOption.value) && onChange({ expiry: selectedOption.value })
          }
        />
      </FormField>
      {expiry === "on" && (
        <FormField label={say.lastDay} constraintText={say.lastDayHint} errorText={error}>
          <DateInput format="iso" value={date} onChange={({ detail }) => onChange({ date: detail.value })} />
        </FormField>
      )}
    </SpaceBetween>
  );
}
