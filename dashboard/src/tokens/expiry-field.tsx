// Chooses when an API key expires: after a common time, on a date, or never.
import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { endOf, type Expiry, EXPIRIES, isExpiry } from "./expiry.ts";

interface Props {
  expiry: Expiry;
  date: string;
  error: string | undefined;
  onChange: (changed: { expiry?: Expiry; date?: string }) => void;
}

const OPTIONS = Object.entries(EXPIRIES).map(([value, { label }]) => ({ value, label }));
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" });

export function ExpiryField({ expiry, date, error, onChange }: Props) {
  const end = endOf(expiry, date);
  return (
    <SpaceBetween size="m">
      <FormField
        label="Expires"
        description="Expired keys stop working. Rotate long-lived keys regularly."
        constraintText={
          end === undefined ? "Valid until you revoke it." : end !== null && `Expires at the end of ${day.format(end)}.`
        }
      >
        <Select
          options={OPTIONS}
          selectedOption={OPTIONS.find(({ value }) => value === expiry) ?? null}
          onChange={({ detail: { selectedOption } }) =>
            isExpiry(selectedOption.value) && onChange({ expiry: selectedOption.value })
          }
        />
      </FormField>
      {expiry === "on" && (
        <FormField label="Last day" constraintText="YYYY/MM/DD" errorText={error}>
          <DateInput value={date} onChange={({ detail }) => onChange({ date: detail.value })} />
        </FormField>
      )}
    </SpaceBetween>
  );
}
