// The actions on the selected records of a list: a menu, and the dialog of the chosen one.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { type ComponentType, useState } from "react";
import type { Labels } from "../../../shared/api/fields.ts";
import { type Need, useMissing } from "../app/may.tsx";
import { lazily } from "../app/lazily.tsx";
import { useNoteLeftOut } from "../app/left-out.ts";
import type { Selectable } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";
import type { SelectedProps } from "../resource/list/use-selection.ts";
import { candidates, type DialogProps } from "./candidate.ts";
import { bulkWork } from "./words.ts";

const BulkDialog = lazily(async () => (await import("./dialog.tsx")).BulkDialog);
const DeleteDialog = lazily(async () => (await import("./delete-dialog.tsx")).DeleteDialog);
const LabelDialog = lazily(async () => (await import("./label-dialog.tsx")).LabelDialog);

/** What can be done with many records of one kind. */
export interface Kind<Item> {
  one: Selectable;
  nameOf: (item: Item) => string;
  /** What the actions need, by their names. */
  needs: Readonly<Record<string, readonly Need[]>>;
  /**
   * The actions by the API's names, each with the reason why it leaves a record out. Another operation on a record is no such
   * reason: the service waits for that, and the dry run says so.
   */
  actions: readonly (readonly [action: string, whyNot: (item: Item) => string | undefined])[];
  /** Actions with a dialog of their own. */
  dialogs?: Readonly<Record<string, ComponentType<DialogProps>>>;
}

interface Props<Item> extends SelectedProps<Item> {
  kind: Kind<Item>;
}

export function BulkMenu<Item extends { id: string; labels: Labels }>({ kind, selected, isCurrent, onDone }: Props<Item>) {
  const [opened, setOpened] = useState<string>();
  /** The records as they were when the dialog opened: what it leaves out does not change because time passes. */
  const [current, setCurrent] = useState<ReadonlyMap<string, Item>>(new Map());
  const missing = useMissing();
  const missingFor = (action: string): Need | undefined => missing(...(kind.needs[action] ?? []));
  const offered = kind.actions.filter(([action]) => missingFor(action) === undefined);
  useNoteLeftOut(...kind.actions.map(([action]) => missingFor(action)));
  const [, whyNot] = kind.actions.find(([action]) => action === opened) ?? [];
  const Asking = opened === undefined ? BulkDialog : (kind.dialogs?.[opened] ?? dialogOf(opened));
  return (
    <>
      {offered.length > 0 && (
        <ButtonDropdown
          disabled={selected.length === 0}
          disabledReason={text.bulk.selectFirst(kind.one)}
          items={offered.map(([action]) => ({ id: action, text: bulkWork(kind.one, action).verb }))}
          onItemClick={({ detail }) => {
            setCurrent(new Map(selected.filter(isCurrent).map((item) => [item.id, item])));
            setOpened(detail.id);
          }}
        >
          {text.bulk.actions}
        </ButtonDropdown>
      )}
      {opened !== undefined && (
        <Asking
          kind={kind.one}
          action={opened}
          selected={candidates(selected, current, { nameOf: kind.nameOf, whyNot })}
          onDismiss={() => setOpened(undefined)}
          onDone={() => {
            setOpened(undefined);
            onDone();
          }}
        />
      )}
    </>
  );
}

function dialogOf(action: string) {
  switch (action) {
    case "set_labels":
      return LabelDialog;
    case "delete":
      return DeleteDialog;
    default:
      return BulkDialog;
  }
}
