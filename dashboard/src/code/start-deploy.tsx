// The dialog that deploys an instance's code: which modules it updates, how it is made, and what it would do.
import { useNavigate } from "react-router";
import { create } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { useForm } from "../resource/form/use-form.ts";
import { DeployFields, DEPLOY_DEFAULTS, toBody, toPlan, type Values } from "./deploy-fields.tsx";

const { body: schema } = create();

interface Props {
  instance: Pick<ShownInstance, "id" | "name">;
  /** What the form begins with where that is not the default. */
  begin?: Partial<Values>;
  onDismiss: () => void;
}

export function StartDeploy({ instance: { id, name }, begin, onDismiss }: Props) {
  const say = text.code.deploy;
  const navigate = useNavigate();
  const params = { id };
  const form = useForm({
    of: id,
    initial: { ...DEPLOY_DEFAULTS, ...begin },
    schema,
    body: toBody,
    send: (body, idempotencyKey) => client.deploys.create({ params, body, idempotencyKey }),
    done: ({ data }) => void navigate(`/deploys/${data.id}`),
  });
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.submit} onDismiss={onDismiss}>
      <DeployFields form={form} />
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
