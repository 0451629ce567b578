// The actions on the selected records of a list: a menu, and the dialog of the chosen one.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useState } from "react";
import { lazily } from "../app/lazily.tsx";
import type { Selectable } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";
import { isOver, type Target, useBatch } from "./batch.ts";
import type { Labels } from "../../../shared/api/fields.ts";
import type { Words } from "./candidate.ts";
import type { Labeled } from "./labels.ts";

const BulkDialog = lazily(async () => (await import("./dialog.tsx")).BulkDialog);
const LabelDialog = lazily(async () => (await import("./label-dialog.tsx")).LabelDialog);

/** What can be done with many records of one kind. */
export interface Kind<Item> {
  one: Selectable;
  targetOf: (item: Item) => Target;
  actions: readonly Action<Item>[];
  labels: { of: Labeled; whyNot: (item: Item) => string | undefined };
}

export interface Action<Item> extends Words {
  whyNot: (item: Item) => string | undefined;
}

interface Props<Item> {
  kind: Kind<Item>;
  selected: readonly Item[];
  onDone: () => void;
}

const LABELS = "labels";

export function BulkMenu<Item extends { labels: Labels }>({ kind, selected, onDone }: Props<Item>) {
  const [asked, setAsked] = useState<string>();
  const batch = useBatch();
  const busy = batch !== undefined && !isOver(batch) ? { disabled: true, disabledReason: text.bulk.busy } : {};
  const action = kind.actions.find(({ verb }) => verb === asked);
  const whyNot = action?.whyNot ?? kind.labels.whyNot;
  const dialog = {
    kind: kind.one,
    selected: selected.map((item) => ({ ...kind.targetOf(item), labels: item.labels, why: whyNot(item) })),
    onDismiss: () => setAsked(undefined),
    onDone: () => {
      setAsked(undefined);
      onDone();
    },
  };
  return (
    <>
      <ButtonDropdown
        disabled={selected.length === 0}
        disabledReason={text.bulk.selectFirst(kind.one)}
        items={[
          ...kind.actions.map(({ verb }) => ({ id: verb, text: verb, ...busy })),
          { id: LABELS, text: text.bulk.labels.change, ...busy },
        ]}
        onItemClick={({ detail }) => setAsked(detail.id)}
      >
        {text.bulk.actions}
      </ButtonDropdown>
      {action !== undefined && <BulkDialog action={action} {...dialog} />}
      {asked === LABELS && <LabelDialog labeled={kind.labels.of} {...dialog} />}
    </>
  );
}
