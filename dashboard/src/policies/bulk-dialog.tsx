// Sets the same backup policy for many instances.
import { update } from "../../../shared/api/backup-policy.ts";
import { text } from "../messages/text.ts";
import { NextRuns, PolicyFields, toBody, toValues } from "./form.tsx";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { useForm } from "../resource/form/use-form.ts";
import type { DialogProps } from "../bulk/candidate.ts";
import { BulkDialog } from "../bulk/dialog.tsx";
import { rehearseInGeneral } from "../bulk/forecast.tsx";
import { choose, Included } from "../bulk/included.tsx";
import { sendBulk } from "../bulk/use-bulk.ts";
import { bulkWork } from "../bulk/words.ts";

const { body: policyBody } = update();

export function PolicyDialog(props: DialogProps) {
  // A policy for none is not worth a form.
  return choose(props.selected).included.length === 0 ? <BulkDialog {...props} /> : <PolicyForm {...props} />;
}

function PolicyForm({ kind, action, selected, onDone, onDismiss }: DialogProps) {
  const say = text.bulk;
  const { verb, ask } = bulkWork(kind, action);
  const choice = choose(selected);
  const ids = choice.included.map(({ id }) => id);
  const form = useForm({
    of: "bulk",
    initial: toValues(undefined),
    schema: policyBody,
    body: toBody,
    send: (parameters, idempotencyKey) => sendBulk({ action, ids, parameters }, idempotencyKey),
    done: onDone,
  });
  return (
    <FormDialog title={ask(say.count(ids.length, kind))} form={form} submit={verb} onDismiss={onDismiss}>
      <PolicyFields form={form} />
      <SettledForecast
        schema={policyBody}
        body={toBody(form.values)}
        rehearse={(parameters) => rehearseInGeneral({ action, ids, parameters })}
        of={ids.join()}
        error={form.error}
        returns={false}
      />
      <NextRuns values={form.values} />
      <div>{say.byService}</div>
      <Included of={choice} />
    </FormDialog>
  );
}
