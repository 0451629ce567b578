// The dialog that deploys an instance's code: what it would do, and whether it is rehearsed and backed up first.
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useNavigate } from "react-router";
import { create } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Forecast } from "../resource/forecast.tsx";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { given, useForm } from "../resource/use-form.ts";

const { body: schema } = create();

const SELECTIONS = ["changed", "all"] as const;
type Selection = (typeof SELECTIONS)[number];
const initial: { modules: Selection; rehearse: boolean; backup_first: boolean; update_image: boolean; note: string } = {
  modules: "changed",
  rehearse: true,
  backup_first: true,
  update_image: false,
  note: "",
};

const toBody = ({ note, ...choices }: typeof initial) => ({
  ...choices,
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
  const { note: _note, ...planned } = form.values;
  const { modules, rehearse, backup_first, update_image } = planned;
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.submit} onDismiss={onDismiss}>
      <FormField label={say.modules} errorText={form.error("modules")}>
        <RadioGroup
          value={modules}
          items={SELECTIONS.map((value) => ({ value, label: say.selections[value] }))}
          onChange={({ detail }) => {
            const chosen = SELECTIONS.find((each) => each === detail.value);
            if (chosen !== undefined) form.set({ modules: chosen });
          }}
        />
      </FormField>
      <Checkbox
        checked={rehearse}
        description={say.rehearseAbout}
        onChange={({ detail }) => form.set({ rehearse: detail.checked })}
      >
        {say.rehearse}
      </Checkbox>
      <Checkbox
        checked={backup_first}
        description={say.backUpAbout}
        onChange={({ detail }) => form.set({ backup_first: detail.checked })}
      >
        {say.backUp}
      </Checkbox>
      <Checkbox
        checked={update_image}
        description={say.imageAbout}
        onChange={({ detail }) => form.set({ update_image: detail.checked })}
      >
        {say.image}
      </Checkbox>
      <TextField label={say.note} optional {...form.text("note")} />
      <Forecast rehearse={() => client.deploys.create.dryRun({ params, body: planned })} of={["deploy", id, planned]} />
    </FormDialog>
  );
}
