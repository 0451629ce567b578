// The dialog that goes back to an earlier deploy, with its data if the user likes.
import Checkbox from "@cloudscape-design/components/checkbox";
import { useNavigate } from "react-router";
import { create, type Deploy } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { useMay } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { Forecast } from "../resource/forecast.tsx";
import { FormDialog } from "../resource/form-dialog.tsx";
import { inShort } from "../resource/moment.ts";
import { useForm } from "../resource/use-form.ts";

const { body: schema } = create();

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
  const toBody = ({ data }: { data: boolean }) => ({ rollback_to: deploy.id, ...(data && { restore_database: true }) });
  const form = useForm({
    of: deploy.id,
    initial: { data: false },
    schema,
    body: toBody,
    send: (body, idempotencyKey) => client.deploys.create({ params, body, idempotencyKey }),
    done: ({ data }) => {
      onDismiss();
      void navigate(`/deploys/${data.id}`);
    },
  });
  const body = toBody(form.values);
  return (
    <FormDialog
      title={say.title(name, inShort(deploy.created_at))}
      form={form}
      submit={say.submit}
      destructive
      onDismiss={onDismiss}
    >
      <Checkbox
        checked={form.values.data}
        disabled={!mayRestore}
        description={say.dataAbout}
        onChange={({ detail }) => form.set({ data: detail.checked })}
      >
        {say.data}
      </Checkbox>
      <Forecast
        rehearse={() => client.deploys.create.dryRun({ params, body })}
        of={["rollback", id, body]}
        words={{ deploy_rolled_back: say.about(name) }}
      />
    </FormDialog>
  );
}
