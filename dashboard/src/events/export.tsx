// Saves all entries of some days as a file: for a spreadsheet, or as JSON lines for programs.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Event } from "../../../shared/api/events.ts";
import { EVENT_CLASSES } from "../../../shared/domain/event-types.ts";
import { Failure } from "../app/failure.tsx";
import { events } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { useAllPages } from "../resource/list/all-pages.ts";
import type { Column } from "../resource/list/column.ts";
import { saveFile, toCsv } from "../resource/list/csv.ts";
import { useKeepFocus } from "../resource/dialog/dialog.tsx";
import { Loading } from "../resource/list/export-button.tsx";
import { dayIn, isDay, nextDay, startOf } from "../resource/words/moment.ts";
import { serviceNow } from "../session/clock.ts";

const FORMATS = ["csv", "jsonl"] as const;
type Format = (typeof FORMATS)[number];
const KINDS = ["everything", ...EVENT_CLASSES] as const;
type Kind = (typeof KINDS)[number];
interface Range {
  from: string;
  to: string;
}

/** Returns the current day in the zone in which times are shown. */
function today(): string {
  const day = dayIn(serviceNow());
  return new Date(Date.UTC(day.getFullYear(), day.getMonth(), day.getDate())).toISOString().slice(0, 10);
}

/** The two lists as one: the newest first, as each of them is. */
const inOrder = (records: readonly Event[]): Event[] =>
  records.toSorted((a, b) => b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id));

const toLines = (records: readonly Event[]): string => records.map((event) => `${JSON.stringify(event)}\n`).join("");

export function ExportEvents({ columns, onDismiss }: { columns: readonly Column<Event>[]; onDismiss: () => void }) {
  const say = text.events.export;
  useKeepFocus();
  const [kind, setKind] = useState<Kind>("everything");
  const [days, setDays] = useState<Range>(() => ({ from: today(), to: today() }));
  const [format, setFormat] = useState<Format>("csv");
  const { from, to } = days;
  const isRange = isDay(from) && isDay(to) && from <= to;
  const range = isRange ? { created_after: startOf(from), created_before: startOf(nextDay(to)) } : {};
  const queries = (kind === "everything" ? EVENT_CLASSES : [kind]).map((each) => ({ class: each, ...range }));
  const { pending, error, loadedCount, fetchAll, cancel } = useAllPages(events.list, queries, (all) => {
    const ordered = inOrder(all);
    saveFile(
      `${say.file}-${from}-${to}.${format}`,
      format === "csv" ? toCsv(columns, ordered) : toLines(ordered),
      FILE_TYPES[format],
    );
    onDismiss();
  });
  const close = (): void => {
    cancel();
    onDismiss();
  };
  return (
    <Modal
      visible
      header={say.title}
      onDismiss={close}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={close}>
              {text.resource.form.cancel}
            </Button>
            <Button variant="primary" disabled={!isRange} loading={pending} onClick={fetchAll}>
              {say.save}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {say.about}
        <Days of={days} onChange={setDays} />
        <Choice label={say.kind} values={KINDS} labels={say.kinds} value={kind} onChange={setKind} />
        <Choice label={say.format} values={FORMATS} labels={say.formats} value={format} onChange={setFormat} />
        {loadedCount > 0 && <Loading count={loadedCount} />}
        {error !== null && <Failure error={error} retry={fetchAll} />}
      </SpaceBetween>
    </Modal>
  );
}

interface DaysProps {
  of: Range;
  onChange: (days: Range) => void;
}

const Days = ({ of: days, onChange }: DaysProps) => (
  <SpaceBetween size="m">
    {(["from", "to"] as const).map((end) => (
      <FormField key={end} label={text.events.export[end]} constraintText={text.events.export.dayHint}>
        <DateInput format="iso" value={days[end]} onChange={({ detail }) => onChange({ ...days, [end]: detail.value })} />
      </FormField>
    ))}
  </SpaceBetween>
);

interface ChoiceProps<Value extends string> {
  label: string;
  values: readonly Value[];
  labels: Readonly<Record<Value, string>>;
  value: Value;
  onChange: (value: Value) => void;
}

const Choice = <Value extends string>({ label, values, labels, value, onChange }: ChoiceProps<Value>) => (
  <FormField label={label}>
    <RadioGroup
      value={value}
      items={values.map((each) => ({ value: each, label: labels[each] }))}
      onChange={({ detail }) => onChange(values.find((each) => each === detail.value) ?? value)}
    />
  </FormField>
);

const FILE_TYPES = { csv: "csv", jsonl: "plain" } as const;
