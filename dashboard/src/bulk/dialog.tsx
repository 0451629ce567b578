// Asks before an action on many records: what happens to how many, and which are left out and why.
import Box from "@cloudscape-design/components/box";
import type { Selectable } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog.tsx";
import { type Job, startBatch } from "./batch.ts";
import { choose, Included } from "./included.tsx";
import type { Candidate, Words } from "./candidate.ts";

interface Props {
  kind: Selectable;
  action: Words & Pick<Job, "send">;
  selected: readonly Candidate[];
  onDone: () => void;
  onDismiss: () => void;
}

export function BulkDialog({ kind, action, selected, onDone, onDismiss }: Props) {
  const say = text.bulk;
  const { verb, running, done, effect, send } = action;
  const choice = choose(selected);
  const targets = choice.included;
  const [first] = [...targets, ...selected];
  return (
    <Dialog
      title={targets.length === 0 ? say.none(verb, selected.length, kind) : say.ask(verb, targets.length, kind)}
      confirm={targets.length === 0 ? verb : say.confirm(verb, targets.length, kind)}
      disabled={targets.length === 0}
      pending={false}
      error={null}
      send={() => send(first?.id ?? "", crypto.randomUUID())}
      onConfirm={() => {
        startBatch({ running: say.running(running, kind), done, kind, targets, send });
        onDone();
      }}
      onDismiss={onDismiss}
    >
      {targets.length > 0 && (
        <Box>
          {effect} {targets.length > 1 && say.oneByOne(done, kind)}
        </Box>
      )}
      <Included of={choice} />
    </Dialog>
  );
}
