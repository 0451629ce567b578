// The dialog that goes back to an earlier deploy, with its data if the user likes. How it is made is among its options.
import Checkbox from "@cloudscape-design/components/checkbox";
import { useNavigate } from "react-router";
import { create, type Deploy } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { useMay } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { Forecast } from "../resource/dialog/forecast.tsx";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { formatTime } from "../resource/words/moment.ts";
import { MoreOptions } from "../resource/page/more-options.tsx";
import { textOrUndefined, useForm } from "../resource/form/use-form.ts";
import { ChoiceFields, DEFAULT_CHOICES } from "./choices.tsx";

const { body: schema } = create();

const initial = { ...DEFAULT_CHOICES, data: false, note: "" };

interface Props {
  deploy: Deploy;
  instance: Pick<ShownInstance, "id" | "name">;
  onDismiss: () => void;
}

export function Rollback({ deploy, instance: { id, name }, onDismiss }: Props) {
  const say = text.code.rollback;
  const navigate = useNavigate();
  const mayRestore = useMay()("backups:restore");
  const params = { id };
  /** What the dry run depends on. */
  const toPlan = ({ data, rehearse, backup_first, update_image }: typeof initial) => ({
    rollback_to: deploy.id,
    ...(data && { restore_database: true }),
    rehearse,
    backup_first,
    update_image,
  });
  const form = useForm({
    of: deploy.id,
    initial,
    schema,
    body: (values) => ({
      ...toPlan(values),
      ...(textOrUndefined(values.note) !== undefined && { note: textOrUndefined(values.note) }),
    }),
    send: (body, idempotencyKey) => client.deploys.create({ params, body, idempotencyKey }),
    done: ({ data }) => {
      onDismiss();
      void navigate(`/deploys/${data.id}`);
    },
  });
  const { data } = form.values;
  const body = toPlan(form.values);
  return (
    <FormDialog
      title={say.title(name, formatTime(deploy.created_at))}
      form={form}
      submit={say.submit}
      destructive
      onDismiss={onDismiss}
    >
      <Checkbox
        checked={data}
        disabled={!mayRestore}
        description={say.dataAbout}
        onChange={({ detail }) => form.set({ data: detail.checked })}
      >
        {say.data}
      </Checkbox>
      <MoreOptions wrong={form.error("note") !== undefined}>
        {/* What comes back from a backup is not rehearsed: there is a copy of the present data alone. */}
        <ChoiceFields values={form.values} onChange={form.set} rehearsable={!data} />
        <TextField label={text.code.deploy.note} optional {...form.text("note")} />
      </MoreOptions>
      <Forecast
        rehearse={() => client.deploys.create.dryRun({ params, body })}
        of={["rollback", id, body]}
        words={{ deploy_rolled_back: say.about(name) }}
      />
    </FormDialog>
  );
}
