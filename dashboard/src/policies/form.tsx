// The dialog that sets an instance's backup policy.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Box from "@cloudscape-design/components/box";
import type { BackupPolicy } from "../../../shared/api/backup-policy.ts";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { KEEP_RULES } from "../../../shared/domain/retention.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import { FOUR_A_DAY, keepInWords, timeOfDay } from "./words.ts";

type KeepRule = (typeof KEEP_RULES)[number];

const PRESETS = [
  { value: "daily", label: "Every day" },
  { value: "four", label: "Four times a day: 0:00, 6:00, 12:00, 18:00" },
  { value: "custom", label: "Custom" },
] as const;
type Preset = (typeof PRESETS)[number]["value"];
const isPreset = (value: string): value is Preset => PRESETS.some((preset) => preset.value === value);

const RULES: Readonly<Record<KeepRule, string>> = {
  last: "Newest",
  hourly: "Hours",
  daily: "Days",
  weekly: "Weeks",
  monthly: "Months",
  yearly: "Years",
};

type Values = { preset: Preset; time: string; schedule: string; timezone: string; drills: string; enabled: boolean } & Record<
  KeepRule,
  string
>;

type Policy = Omit<BackupPolicy, "next_run_at" | "last_run">;

function valuesOf(policy: Policy | undefined): Values {
  const { schedule, timezone, keep, drill_every_days, enabled }: Policy = policy ?? {
    schedule: "0 2 * * *",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    keep: { daily: 7, weekly: 4, monthly: 12 },
    drill_every_days: null,
    enabled: true,
  };
  const time = timeOfDay(schedule);
  const text = (rule: KeepRule): string => String(keep[rule] ?? "");
  return {
    preset: time !== undefined ? "daily" : schedule === FOUR_A_DAY ? "four" : "custom",
    time: time ?? "02:00",
    schedule,
    timezone,
    last: text("last"),
    hourly: text("hourly"),
    daily: text("daily"),
    weekly: text("weekly"),
    monthly: text("monthly"),
    yearly: text("yearly"),
    drills: drill_every_days === null ? "" : String(drill_every_days),
    enabled,
  };
}

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;

function scheduleOf({ preset, time, schedule }: Values): string {
  if (preset === "four") return FOUR_A_DAY;
  if (preset === "custom") return schedule;
  const [, hour, minute] = TIME.exec(time.trim()) ?? [];
  return hour === undefined || minute === undefined ? time : `${Number(minute)} ${Number(hour)} * * *`;
}

/** An empty field keeps nothing; text that is no number is sent as it is, so that its error appears. */
const numberIn = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text));

function keepOf(values: Values): BackupPolicy["keep"] {
  return Object.fromEntries(
    KEEP_RULES.flatMap((rule) => {
      const count = numberIn(values[rule]);
      return count === undefined ? [] : [[rule, count]];
    }),
  );
}

const bodyOf = (values: Values) => ({
  schedule: scheduleOf(values),
  timezone: values.timezone.trim(),
  keep: keepOf(values),
  drill_every_days: numberIn(values.drills) ?? null,
  enabled: values.enabled,
});

interface Props {
  instance: Pick<Instance, "id" | "name">;
  policy: BackupPolicy | undefined;
  onDismiss: () => void;
}

export function PolicyForm({ instance: { id, name }, policy, onDismiss }: Props) {
  const form = useForm({
    of: id,
    initial: valuesOf(policy),
    schema: api.backupPolicy.update.body,
    body: bodyOf,
    send: (body) => client.backupPolicy.update({ params: { id }, body }),
    done: () => {
      notify({ id: `policy-${id}`, type: "success", header: `Backup policy saved: ${name}` });
      onDismiss();
    },
  });
  const { preset, enabled } = form.values;
  return (
    <FormDialog title={`Backup policy of ${name}`} form={form} submit="Save policy" onDismiss={onDismiss}>
      <FormField label="Back up">
        <RadioGroup
          value={preset}
          items={[...PRESETS]}
          onChange={({ detail }) => isPreset(detail.value) && form.set({ preset: detail.value })}
        />
      </FormField>
      {preset === "daily" && (
        <TextField
          label="At"
          hint="24-hour clock, such as 02:00. The backup starts within 15 minutes."
          {...form.text("time")}
          error={form.error("schedule") && "Enter a time such as 02:00."}
        />
      )}
      {preset === "custom" && <TextField label="Cron expression" placeholder="0 2 * * 1-5" {...form.text("schedule")} />}
      <TextField label="Time zone" placeholder="Europe/Berlin" {...form.text("timezone")} />
      <FormField label="Keep" description={`${keepInWords(keepOf(form.values))}.`} errorText={form.error("keep")}>
        <ColumnLayout columns={3}>
          {KEEP_RULES.map((rule) => (
            <TextField key={rule} label={RULES[rule]} type="number" {...form.text(rule)} error={form.error(`keep.${rule}`)} />
          ))}
        </ColumnLayout>
      </FormField>
      <Box color="text-body-secondary">
        Locked backups, manual backups and the latest completed backup are never removed by a policy.
      </Box>
      <TextField
        label="Restore drill every (days)"
        optional
        description="Restores the newest backup to a throwaway database and checks it. The instance isn't touched."
        hint="1–90."
        type="number"
        {...form.text("drills")}
        error={form.error("drill_every_days")}
      />
      <Checkbox checked={enabled} onChange={({ detail }) => form.set({ enabled: detail.checked })}>
        Enabled
      </Checkbox>
    </FormDialog>
  );
}
