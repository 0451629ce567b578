// The dialog that deploys an instance's code: which modules it updates, how it is made, and what it would do.
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useNavigate } from "react-router";
import { create } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { SettledForecast } from "../resource/settled.tsx";
import { given, useForm } from "../resource/use-form.ts";
import { ChoiceFields, type Choices, DEFAULT_CHOICES } from "./choices.tsx";
import { wordsIn } from "./words.ts";

const { body: schema } = create();

const SELECTIONS = ["changed", "all", "named"] as const;
type Selection = (typeof SELECTIONS)[number];
const initial: Choices & { modules: Selection; names: string; note: string } = {
  ...DEFAULT_CHOICES,
  modules: "changed",
  names: "",
  note: "",
};

/** What the dry run depends on. */
const toPlan = ({ modules, names, rehearse, backup_first, update_image }: Omit<typeof initial, "note">) => ({
  modules: modules === "named" ? wordsIn(names) : modules,
  rehearse,
  backup_first,
  update_image,
});

const toBody = ({ note, ...planned }: typeof initial) => ({
  ...toPlan(planned),
  ...(given(note) !== undefined && { note: given(note) }),
});

interface Props {
  instance: Pick<ShownInstance, "id" | "name">;
  /** Whether it is to bring the newest image, too. */
  updateImage?: boolean;
  onDismiss: () => void;
}

export function StartDeploy({ instance: { id, name }, updateImage = false, onDismiss }: Props) {
  const say = text.code.deploy;
  const navigate = useNavigate();
  const params = { id };
  const form = useForm({
    of: id,
    initial: { ...initial, update_image: updateImage },
    schema,
    body: toBody,
    send: (body, idempotencyKey) => client.deploys.create({ params, body, idempotencyKey }),
    done: ({ data }) => void navigate(`/deploys/${data.id}`),
  });
  const { modules, names } = form.values;
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.submit} onDismiss={onDismiss}>
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
      <SettledForecast
        schema={schema}
        body={toPlan(form.values)}
        rehearse={(body) => client.deploys.create.dryRun({ params, body })}
        of={`deploy ${id}`}
        error={form.error}
      />
    </FormDialog>
  );
}
