// Changes the labels of many records: adds some, removes others, and leaves the rest as they are.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import * as z from "zod";
import { labels } from "../../../shared/api/fields.ts";
import { parse } from "../../../shared/api/parse.ts";
import { utf8Bytes } from "../../../shared/domain/json-bytes.ts";
import { changedLabels } from "../../../shared/domain/labels.ts";
import { LABELS_BYTES_MAX, LABELS_MAX } from "../../../shared/domain/limits.ts";
import { problemsOf } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog/dialog.tsx";
import { formatCount } from "../resource/words/number.ts";
import { labelsIn, LabelsField } from "../resource/form/labels-field.tsx";
import { problemOfField } from "../resource/form/use-form.ts";
import type { DialogProps } from "./candidate.ts";
import { choose, Included } from "./included.tsx";
import { sendBulk, useBulk } from "./use-bulk.ts";
import { bulkWork } from "./words.ts";

const isSame = (some: Record<string, string>, others: Record<string, string>): boolean =>
  Object.keys(some).length === Object.keys(others).length && Object.entries(some).every(([key, value]) => others[key] === value);

export function LabelDialog({ kind, action, selected, onDone, onDismiss }: DialogProps) {
  const say = text.bulk.labels;
  const [[added, removed], setTyped] = useState(["", ""]);
  const [problem, setProblem] = useState<string>();
  const bulk = useBulk(onDone);
  const change = { add: labelsIn(added), remove: removed.split(/[\s,]+/).filter((key) => key !== "") };
  const choice = choose(selected, (item) => {
    if (item.labels === undefined) return item.exclusionReason;
    const next = changedLabels(item.labels, change);
    if (Object.keys(next).length > LABELS_MAX) return say.tooMany(LABELS_MAX);
    if (utf8Bytes(Object.entries(next).flat().join("")) > LABELS_BYTES_MAX) return say.tooLong(formatCount(LABELS_BYTES_MAX));
    return isSame(next, item.labels) ? say.same : item.exclusionReason;
  });
  const request = { action, ids: choice.included.map(({ id }) => id), parameters: change };
  return (
    <Dialog
      title={bulkWork(kind, action).ask(text.bulk.count(selected.length, kind))}
      confirm={say.confirm(request.ids.length, kind)}
      disabled={request.ids.length === 0 || (Object.keys(change.add).length === 0 && change.remove.length === 0)}
      pending={bulk.pending}
      error={bulk.error}
      send={() => sendBulk(request, crypto.randomUUID())}
      onConfirm={() => {
        const wrong = whyInvalid(change.add);
        setProblem(wrong);
        if (wrong === undefined) bulk.begin(request);
      }}
      onDismiss={onDismiss}
    >
      <LabelsField
        label={say.add}
        description={say.addAbout}
        value={added}
        error={problem}
        onChange={(value) => {
          setTyped([value, removed]);
          setProblem(undefined);
        }}
      />
      <FormField label={say.remove} description={say.removeAbout}>
        <Input value={removed} onChange={({ detail }) => setTyped([added, detail.value])} />
      </FormField>
      {(added !== "" || removed !== "") && <Included of={choice} />}
    </Dialog>
  );
}

function whyInvalid(add: Record<string, string>): string | undefined {
  try {
    parse(z.object({ labels }), { labels: add });
    return undefined;
  } catch (error) {
    return problemOfField(problemsOf(error), "labels");
  }
}
