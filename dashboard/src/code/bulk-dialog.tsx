// Asks before the code of many instances is deployed, each its own: which modules it updates, and how it is made.
import Box from "@cloudscape-design/components/box";
import { deployChoices } from "../../../shared/api/deploy-choices.ts";
import type { DialogProps } from "../bulk/candidate.ts";
import { BulkDialog } from "../bulk/dialog.tsx";
import { rehearseInGeneral } from "../bulk/forecast.tsx";
import { choose, Included } from "../bulk/included.tsx";
import { sendBulk } from "../bulk/use-bulk.ts";
import { bulkWork } from "../bulk/words.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { useForm } from "../resource/form/use-form.ts";
import { DeployFields, DEPLOY_DEFAULTS, toBody, toPlan } from "./deploy-fields.tsx";

const schema = deployChoices();

export function DeployDialog(props: DialogProps) {
  // A deploy of none is not worth a form.
  return choose(props.selected).included.length === 0 ? <BulkDialog {...props} /> : <DeployForm {...props} />;
}

function DeployForm({ kind, action, selected, onDone, onDismiss }: DialogProps) {
  const say = text.bulk;
  const { ask, effect } = bulkWork(kind, action);
  const choice = choose(selected);
  const ids = choice.included.map(({ id }) => id);
  const question = ask(say.count(ids.length, kind));
  const form = useForm({
    of: "bulk",
    initial: DEPLOY_DEFAULTS,
    schema,
    body: toBody,
    send: (parameters, idempotencyKey) => sendBulk({ action, ids, parameters }, idempotencyKey),
    done: onDone,
  });
  return (
    <FormDialog title={question} form={form} submit={question} onDismiss={onDismiss}>
      <Box>
        {effect !== undefined && `${effect} `}
        {say.byService}
      </Box>
      <DeployFields form={form} />
      <SettledForecast
        schema={schema}
        body={toPlan(form.values)}
        rehearse={(parameters) => rehearseInGeneral({ action, ids, parameters })}
        of={ids.join()}
        error={form.error}
        returns={false}
      />
      <Included of={choice} />
    </FormDialog>
  );
}
