// What opens alerts, for all servers and instances of the account.
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import { update } from "../../../shared/api/alert-settings.ts";
import type { AlertSettings } from "../../../shared/domain/alerts.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Page } from "../app/page.tsx";
import { alertSettings } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form/form.tsx";
import { Loaded } from "../resource/page/loaded.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";

const above = () => [{ text: text.alerts.title, href: "/alerts" }];

export default function AlertSettingsPage() {
  return (
    <Loaded kind={text.alerts.settings.title} above={above()} question={alertSettings()}>
      {(settings) => (
        <Page title={text.alerts.settings.title} above={above()}>
          <SettingsForm settings={settings} />
        </Page>
      )}
    </Loaded>
  );
}

const STEPS = ["disk_free_percent", "memory_free_percent", "token_expiry_days"] as const;
const NUMBERS = ["disk_quota_percent", "certificate_days", "error_rate_percent", "down_minutes", "cpu_percent"] as const;
const EVENTS = ["backup_overdue", "drill_failed", "operation_failed"] as const;

type Typed = (typeof STEPS)[number] | (typeof NUMBERS)[number];
type Values = Record<Typed, string> & Record<(typeof EVENTS)[number], boolean>;

/** What is no number is sent as it is, so that its error appears. */
const stepsIn = (typed: string): number[] | null =>
  typed.trim() === ""
    ? null
    : typed
        .split(/[,;\s]+/)
        .filter(Boolean)
        .map(Number);
const numberIn = (typed: string): number | null => (typed.trim() === "" ? null : Number(typed));

const fieldsOf = <K extends string, T>(names: readonly K[], value: (name: K) => T): Record<K, T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose the names
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, T>;

const valuesOf = (settings: AlertSettings): Values => ({
  ...fieldsOf(STEPS, (name) => settings[name]?.join(", ") ?? ""),
  ...fieldsOf(NUMBERS, (name) => String(settings[name] ?? "")),
  ...fieldsOf(EVENTS, (name) => settings[name]),
});

const bodyOf = (values: Values) => ({
  ...fieldsOf(STEPS, (name) => stepsIn(values[name])),
  ...fieldsOf(NUMBERS, (name) => numberIn(values[name])),
  ...fieldsOf(EVENTS, (name) => values[name]),
});

function describe(values: Values): Record<string, string> {
  const { fields } = text.alerts.settings;
  const { yes, no } = text.resource.conflict;
  return Object.fromEntries([
    ...[...STEPS, ...NUMBERS].map((name) => [fields[name], values[name]]),
    ...EVENTS.map((name) => [fields[name], values[name] ? yes : no]),
  ]);
}

function SettingsForm({ settings }: { settings: AlertSettings }) {
  const say = text.alerts.settings;
  const saved = () => notify({ id: "alert-settings", type: "success", header: say.saved });
  const form = useEditForm({
    record: settings,
    question: alertSettings(),
    values: valuesOf,
    describe,
    schema: update().body,
    body: bodyOf,
    send: (body, version) => client.alertSettings.update({ body, ...version }),
    unchanged: saved,
    done: saved,
  });
  return (
    <Form form={form} submit={say.save} needs={["settings:write"]}>
      {say.about}
      {(["disk_free_percent", "memory_free_percent"] as const).map((name) => (
        <TextField key={name} label={say.fields[name]} hint={`1–99. ${say.steps}`} {...form.text(name)} />
      ))}
      {NUMBERS.map((name) => (
        <TextField key={name} label={say.fields[name]} hint={`${RANGES[name]}. ${say.off}`} type="number" {...form.text(name)} />
      ))}
      <FormField label={say.events}>
        {EVENTS.map((name) => (
          <Checkbox key={name} checked={form.values[name]} onChange={({ detail }) => form.set({ [name]: detail.checked })}>
            {say.fields[name]}
          </Checkbox>
        ))}
      </FormField>
      <TextField label={say.fields.token_expiry_days} hint={`1–90. ${say.steps}`} {...form.text("token_expiry_days")} />
    </Form>
  );
}

const RANGES: Record<(typeof NUMBERS)[number], string> = {
  disk_quota_percent: "1–99",
  certificate_days: "1–90",
  error_rate_percent: "1–99",
  down_minutes: "2–60",
  cpu_percent: "1–99",
};
