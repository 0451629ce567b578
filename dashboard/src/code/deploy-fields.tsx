// The fields of a deploy, of one instance's code or of many: which modules it updates, how it is made, and a note.
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Deploy } from "../../../shared/api/deploys.ts";
import { text } from "../messages/text.ts";
import { TextField } from "../resource/form/form.tsx";
import { textOrUndefined, type useForm } from "../resource/form/use-form.ts";
import { ChoiceFields, type Choices, DEFAULT_CHOICES } from "./choices.tsx";
import { wordsIn } from "./values.ts";

const SELECTIONS = ["changed", "all", "named"] as const;
type Selection = (typeof SELECTIONS)[number];

export interface Values extends Choices {
  modules: Selection;
  names: string;
  note: string;
}

export const DEPLOY_DEFAULTS: Values = { ...DEFAULT_CHOICES, modules: "changed", names: "", note: "" };

/** What an earlier deploy was made with. An older service does not say it, nor does any of a deploy from before it was stored. */
export function toValues({ choices = null, image, note }: Omit<Deploy, "choices"> & Partial<Deploy>): Partial<Values> {
  const { modules = "changed", ...otherChoices } = choices ?? { update_image: image !== null };
  const selection = typeof modules === "string" ? { modules } : { modules: "named" as const, names: modules.join(", ") };
  return { ...otherChoices, ...selection, note: note ?? "" };
}

/** What a dry run depends on. */
export const toPlan = ({ modules, names, rehearse, backup_first, update_image }: Omit<Values, "note">) => ({
  modules: modules === "named" ? wordsIn(names) : modules,
  rehearse,
  backup_first,
  update_image,
});

export const toBody = ({ note, ...planned }: Values) => ({
  ...toPlan(planned),
  ...(textOrUndefined(note) !== undefined && { note: textOrUndefined(note) }),
});

interface Props {
  form: Pick<ReturnType<typeof useForm<Values, ReturnType<typeof toBody>, unknown>>, "values" | "set" | "text" | "error">;
}

export function DeployFields({ form }: Props) {
  const say = text.code.deploy;
  const { modules, names } = form.values;
  return (
    <SpaceBetween size="l">
      <FormField label={say.modules} errorText={modules === "named" ? undefined : form.error("modules")}>
        <RadioGroup
          value={modules}
          items={SELECTIONS.map((value) => ({ value, label: say.selections[value] }))}
          onChange={({ detail }) => {
            const chosen = SELECTIONS.find((each) => each === detail.value);
            if (chosen !== undefined) form.set({ modules: chosen });
          }}
        />
      </FormField>
      {modules === "named" && (
        <TextField
          label={say.names}
          hint={say.namesHint}
          value={names}
          error={form.error("modules")}
          onChange={(value) => form.set({ names: value }, "modules")}
        />
      )}
      <ChoiceFields values={form.values} onChange={form.set} />
      <TextField label={say.note} optional {...form.text("note")} />
    </SpaceBetween>
  );
}
