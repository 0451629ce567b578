// The form of the account's settings.
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import * as z from "zod";
import type { CatalogProvider } from "../../../shared/api/catalog.ts";
import { REQUIRES_SECOND_FACTOR, SETTABLE, settable } from "../../../shared/api/settable.ts";
import type { Settings } from "../../../shared/api/settings.ts";
import { client } from "../app/client.ts";
import { May } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { settings } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form/form.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { textOrUndefined } from "../resource/form/use-form.ts";
import { Section } from "../resource/page/section.tsx";

interface Props {
  stored: Settings;
  offered: readonly CatalogProvider[];
}

const saved = () => notify({ id: "settings", type: "success", header: text.settings.settings.saved });

const useSettingsForm = (stored: Settings) => {
  const say = text.settings.settings;
  return useEditForm({
    record: stored,
    question: settings(),
    values: (record) => ({
      account_name: record.account_name,
      contact_email: record.contact_email ?? "",
      default_provider: record.default_provider ?? "",
      default_region: record.default_region ?? "",
      backup_retention_days: String(record.backup_retention_days),
      token_max_days: String(record.token_max_days ?? ""),
      require_second_factor: record.require_second_factor,
      allowed_ips: networksToText(record),
    }),
    describe: (values) => ({
      [say.accountName]: values.account_name,
      [say.contactEmail]: values.contact_email,
      [say.provider]: values.default_provider,
      [say.region]: values.default_region,
      [say.retention]: values.backup_retention_days,
      [say.tokenDays]: values.token_max_days,
      [say.secondFactor]: say.secondFactorOf[values.require_second_factor],
      [say.allowedIps]: values.allowed_ips,
    }),
    // The API accepts some of them; this form has all.
    schema: z.strictObject({
      ...SETTABLE,
      account_name: settable.account_name,
      backup_retention_days: settable.backup_retention_days,
    }),
    body: ({
      contact_email,
      default_provider,
      default_region,
      backup_retention_days,
      token_max_days,
      allowed_ips,
      ...otherValues
    }) => ({
      ...otherValues,
      allowed_ips: allowed_ips.split(/[,;\s]+/).filter(Boolean),
      contact_email: textOrUndefined(contact_email) ?? null,
      default_provider: textOrUndefined(default_provider) ?? null,
      default_region: textOrUndefined(default_region) ?? null,
      // An empty text is no number, although JavaScript reads it as 0.
      backup_retention_days: backup_retention_days.trim() === "" ? undefined : Number(backup_retention_days),
      token_max_days: token_max_days.trim() === "" ? null : Number(token_max_days),
    }),
    send: (body, version) => client.settings.update({ body, ...version }),
    unchanged: saved,
    done: saved,
  });
};

export function SettingsForm({ stored, offered }: Props) {
  const say = text.settings.settings;
  const form = useSettingsForm(stored);
  const { default_provider, default_region } = form.values;
  const regions = offered.find(({ code }) => code === default_provider)?.regions ?? [];
  return (
    <Section title={say.title}>
      <Form form={form} submit={say.save} boxed={false} needs={["settings:write"]}>
        <TextField label={say.accountName} {...form.text("account_name")} />
        <TextField
          label={say.contactEmail}
          optional
          description={say.contactEmailAbout}
          type="email"
          {...form.text("contact_email")}
        />
        <Choice
          label={say.provider}
          description={say.providerAbout}
          options={offered}
          chosen={default_provider}
          error={form.error("default_provider")}
          onChange={(code) => form.set({ default_provider: code, default_region: "" })}
        />
        <Choice
          label={say.region}
          options={regions}
          chosen={default_region}
          error={form.error("default_region")}
          onChange={(code) => form.set({ default_region: code })}
        />
        <TextField
          label={say.retention}
          description={say.retentionAbout}
          hint={say.retentionHint}
          type="number"
          {...form.text("backup_retention_days")}
        />
        <May needs={["owner"]}>
          <OwnersFields form={form} />
        </May>
      </Form>
    </Section>
  );
}

function OwnersFields({ form }: { form: ReturnType<typeof useSettingsForm> }) {
  const say = text.settings.settings;
  return (
    <SpaceBetween size="l">
      <TextField
        label={say.tokenDays}
        optional
        description={say.tokenDaysAbout}
        hint={say.tokenDaysHint}
        type="number"
        {...form.text("token_max_days")}
      />
      <RequiredFactor
        chosen={form.values.require_second_factor}
        onChange={(require_second_factor) => form.set({ require_second_factor })}
      />
      <TextField
        label={say.allowedIps}
        optional
        description={say.allowedIpsAbout}
        hint={say.allowedIpsHint}
        {...form.text("allowed_ips")}
      />
    </SpaceBetween>
  );
}

/** A service from before there were such networks says nothing of them. */
const networksToText = ({ allowed_ips }: Partial<Settings>): string => (allowed_ips ?? []).join(", ");

type Required = Settings["require_second_factor"];

function RequiredFactor({ chosen, onChange }: { chosen: Required; onChange: (of: Required) => void }) {
  const say = text.settings.settings;
  return (
    <FormField label={say.secondFactor} description={say.secondFactorAbout} stretch>
      <RadioGroup
        value={chosen}
        items={REQUIRES_SECOND_FACTOR.map((value) => ({ value, label: say.secondFactorOf[value] }))}
        onChange={({ detail }) => {
          const of = REQUIRES_SECOND_FACTOR.find((each) => each === detail.value);
          if (of !== undefined) onChange(of);
        }}
      />
    </FormField>
  );
}

interface ChoiceProps {
  label: string;
  description?: string;
  options: readonly { code: string; name: string }[];
  chosen: string;
  error: string | undefined;
  onChange: (code: string) => void;
}

function Choice({ label, description, options, chosen, error, onChange }: ChoiceProps) {
  const none = { value: "", label: text.settings.settings.none };
  const items = [none, ...options.map(({ code, name }) => ({ value: code, label: name, labelTag: code }))];
  return (
    <FormField label={label} description={description} errorText={error}>
      <Select
        options={items}
        selectedOption={items.find(({ value }) => value === chosen) ?? { value: chosen, label: chosen }}
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
