// The dialog that sets an instance's backup policy.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type BackupPolicy, NEXT_RUNS } from "../../../shared/api/policy-shown.ts";
import { update } from "../../../shared/api/backup-policy.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Settings } from "../../../shared/api/settings.ts";
import { KEEP_RULES, type KeepRule } from "../../../shared/domain/retention.ts";
import { nextRuns } from "../../../shared/domain/schedule.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { backupPolicies, settings as settingsQuestion } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { Times } from "../resource/words/time.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import type { useForm } from "../resource/form/use-form.ts";
import { serviceNow } from "../session/clock.ts";
import { Kept } from "./kept.tsx";
import { drillsInWords, FOUR_A_DAY, keepInWords, scheduleInWords, timeOfDay } from "./words.ts";

const { body: policyBody } = update();

const PRESETS = ["daily", "four", "custom"] as const;
type Preset = (typeof PRESETS)[number];
const isPreset = (value: string): value is Preset => PRESETS.some((preset) => preset === value);

type Values = { preset: Preset; time: string; schedule: string; timezone: string; drills: string; enabled: boolean } & Record<
  KeepRule,
  string
>;

type Policy = Omit<BackupPolicy, "next_run_at" | "next_runs" | "last_run">;

export function toValues(policy: Policy | undefined): Values {
  const { schedule, timezone, keep, drill_every_days, enabled }: Policy = policy ?? {
    schedule: "0 2 * * *",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    keep: { daily: 7, weekly: 4, monthly: 12 },
    drill_every_days: null,
    enabled: true,
  };
  const time = timeOfDay(schedule);
  const countFor = (rule: KeepRule): string => String(keep[rule] ?? "");
  return {
    preset: time !== undefined ? "daily" : schedule === FOUR_A_DAY ? "four" : "custom",
    time: time ?? "02:00",
    schedule,
    timezone,
    last: countFor("last"),
    hourly: countFor("hourly"),
    daily: countFor("daily"),
    weekly: countFor("weekly"),
    monthly: countFor("monthly"),
    yearly: countFor("yearly"),
    drills: drill_every_days === null ? "" : String(drill_every_days),
    enabled,
  };
}

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;

function toSchedule({ preset, time, schedule }: Values): string {
  if (preset === "four") return FOUR_A_DAY;
  if (preset === "custom") return schedule;
  const [, hour, minute] = TIME.exec(time.trim()) ?? [];
  return hour === undefined || minute === undefined ? time : `${Number(minute)} ${Number(hour)} * * *`;
}

/** An empty field keeps nothing; text that is no number is sent as it is, so that its error appears. */
const numberIn = (typed: string): number | undefined => (typed.trim() === "" ? undefined : Number(typed));

function toKeep(values: Values): BackupPolicy["keep"] {
  return Object.fromEntries(
    KEEP_RULES.flatMap((rule) => {
      const count = numberIn(values[rule]);
      return count === undefined ? [] : [[rule, count]];
    }),
  );
}

export const toBody = (values: Values) => ({
  schedule: toSchedule(values),
  timezone: values.timezone.trim(),
  keep: toKeep(values),
  drill_every_days: numberIn(values.drills) ?? null,
  enabled: values.enabled,
});

/** The values in words, for showing what somebody else has changed. */
function describe(values: Values): Record<string, string> {
  const say = text.policies;
  const { keep, ...body } = toBody(values);
  return {
    [say.form.schedule]: scheduleInWords(body),
    [say.form.keep]: keepInWords(keep),
    [say.form.drills]: drillsInWords(body.drill_every_days),
    [say.form.enabled]: body.enabled ? text.resource.conflict.yes : text.resource.conflict.no,
  };
}

interface Props {
  instance: Pick<Instance, "id" | "name">;
  policy: BackupPolicy | undefined;
  onDismiss: () => void;
}

export function PolicyForm({ instance: { id, name }, policy, onDismiss }: Props) {
  const say = text.policies.form;
  const params = { id };
  const form = useEditForm({
    of: id,
    record: policy,
    question: backupPolicies.of(id),
    values: toValues,
    describe,
    isWhole: true,
    creates: true,
    schema: policyBody,
    body: toBody,
    send: (_changed, version, body) => client.backupPolicy.update({ params, body, ...version }),
    unchanged: policy && onDismiss,
    done: () => {
      notify({ id: `policy-${id}`, type: "success", header: say.saved(name) });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.save} onDismiss={onDismiss}>
      <PolicyFields form={form} />
      <SettledForecast
        schema={policyBody}
        body={toBody(form.values)}
        rehearse={(body) => client.backupPolicy.update.dryRun({ params, body })}
        of={id}
        error={form.error}
        returns={false}
      />
    </FormDialog>
  );
}

interface DefaultProps {
  settings: Pick<Settings, "default_backup_policy">;
  onDismiss: () => void;
}

/** The policy that new instances get. */
export function DefaultPolicyForm({ settings, onDismiss }: DefaultProps) {
  const say = text.policies.form;
  const form = useEditForm({
    of: "default",
    record: settings,
    question: settingsQuestion(),
    values: ({ default_backup_policy }) => toValues(default_backup_policy ?? undefined),
    describe,
    isWhole: true,
    schema: policyBody,
    body: toBody,
    send: (_changed, version, body) => client.settings.update({ body: { default_backup_policy: body }, ...version }),
    unchanged: settings.default_backup_policy === null ? undefined : onDismiss,
    done: () => {
      notify({ id: "policy-default", type: "success", header: say.defaultSaved });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.defaultTitle} form={form} submit={say.save} onDismiss={onDismiss}>
      <PolicyFields form={form} />
      <NextRuns values={form.values} />
    </FormDialog>
  );
}

/** The next runs, where no dry run lists them. Shows nothing while the form is not a valid policy. */
export function NextRuns({ values }: { values: Values }) {
  const say = text.resource.forecast;
  const { data } = policyBody.safeParse(toBody(values));
  if (data === undefined) return null;
  const runs = data.enabled ? nextRuns(data, serviceNow(), NEXT_RUNS).map((at) => new Date(at).toISOString()) : [];
  return <KeyValuePairs items={[{ label: say.nextRuns, value: <Times times={runs} none={say.never} /> }]} />;
}

interface FieldsProps {
  form: Pick<ReturnType<typeof useForm<Values, Body, unknown>>, "values" | "set" | "text" | "error">;
}

type Body = ReturnType<typeof toBody>;

export function PolicyFields({ form }: FieldsProps) {
  const say = text.policies.form;
  const { enabled } = form.values;
  return (
    <SpaceBetween size="l">
      <ScheduleFields form={form} />
      <TextField label={say.zone} placeholder="Europe/Berlin" {...form.text("timezone")} />
      <FormField label={say.keep} description={say.keepAbout(keepInWords(toKeep(form.values)))} errorText={form.error("keep")}>
        <ColumnLayout columns={3}>
          {KEEP_RULES.map((rule) => (
            <TextField key={rule} label={say.rules[rule]} type="number" {...form.text(rule, `keep.${rule}`)} />
          ))}
        </ColumnLayout>
      </FormField>
      <Kept keep={toKeep(form.values)} />
      <Box color="text-body-secondary">{say.neverRemoved}</Box>
      <TextField
        label={say.drills}
        optional
        description={say.drillsAbout}
        hint={say.drillsHint}
        type="number"
        {...form.text("drills", "drill_every_days")}
      />
      <Checkbox checked={enabled} onChange={({ detail }) => form.set({ enabled: detail.checked })}>
        {say.enabled}
      </Checkbox>
    </SpaceBetween>
  );
}

function ScheduleFields({ form }: FieldsProps) {
  const say = text.policies.form;
  const { preset } = form.values;
  return (
    <SpaceBetween size="l">
      <FormField label={say.schedule}>
        <RadioGroup
          value={preset}
          items={PRESETS.map((value) => ({ value, label: say.presets[value] }))}
          onChange={({ detail }) => isPreset(detail.value) && form.set({ preset: detail.value }, "schedule")}
        />
      </FormField>
      {preset === "daily" && (
        <TextField
          label={say.time}
          hint={say.timeHint}
          {...form.text("time", "schedule")}
          error={form.error("schedule") && say.timeWrong}
        />
      )}
      {preset === "custom" && <TextField label={say.cron} placeholder="0 2 * * 1-5" {...form.text("schedule")} />}
    </SpaceBetween>
  );
}
