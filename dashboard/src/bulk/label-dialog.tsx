// Changes the labels of many records: adds some, removes others, and leaves the rest as they are.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import * as z from "zod";
import { labels } from "../../../shared/api/fields.ts";
import { LABELS_MAX } from "../../../shared/domain/limits.ts";
import { parse } from "../../../shared/api/parse.ts";
import { problemsOf } from "../app/words.ts";
import type { Selectable } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog.tsx";
import { labelsIn, LabelsField } from "../resource/labels.tsx";
import { whyWrong } from "../resource/use-form.ts";
import { startBatch } from "./batch.ts";
import { choose, Included } from "./included.tsx";
import { isSame, type Labeled, relabel, relabeled } from "./labels.ts";
import type { Candidate } from "./candidate.ts";

interface Props {
  kind: Selectable;
  labeled: Labeled;
  selected: readonly Candidate[];
  onDone: () => void;
  onDismiss: () => void;
}

export function LabelDialog({ kind, labeled, selected, onDone, onDismiss }: Props) {
  const say = text.bulk.labels;
  const [[added, removed], setTyped] = useState(["", ""]);
  const [problem, setProblem] = useState<string>();
  const change = { add: labelsIn(added), remove: removed.split(/[\s,]+/).filter((key) => key !== "") };
  const choice = choose(selected, (item) => {
    const next = relabeled(item.labels, change);
    if (Object.keys(next).length > LABELS_MAX) return say.tooMany(LABELS_MAX);
    return isSame(next, item.labels) ? say.same : item.why;
  });
  const targets = choice.included;
  const [first] = [...choice.included, ...selected];
  return (
    <Dialog
      title={say.title(selected.length, kind)}
      confirm={say.confirm(targets.length, kind)}
      disabled={targets.length === 0}
      pending={false}
      error={null}
      send={() => labeled.set(first?.id ?? "", relabeled(first?.labels ?? {}, change), undefined)}
      onConfirm={() => {
        const wrong = whyInvalid(change.add);
        setProblem(wrong);
        if (wrong !== undefined) return;
        startBatch({
          running: say.running(kind),
          done: say.done,
          kind,
          targets,
          send: (id) => relabel(labeled, id, change),
        });
        onDone();
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
    return whyWrong(problemsOf(error), "labels");
  }
}
