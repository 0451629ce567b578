// The dialog that runs a restore drill of an instance's newest backup.
import Modal from "@cloudscape-design/components/modal";
import { RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { backups } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { RecordDialog } from "../resource/dialog/record-dialog.tsx";
import { RunDrill } from "./run-drill.tsx";

interface Props {
  instance: { id: string; name: string };
  onDismiss: () => void;
}

export function DrillNewest({ instance: { id, name }, onDismiss }: Props) {
  const { drill, restore } = text.backupDialogs;
  const title = drill.runTitleOfNewest(name);
  return (
    <RecordDialog title={title} question={backups.listOf(id)({ status: RESTORABLE[0], per_page: 1 })} onDismiss={onDismiss}>
      {([newest]) =>
        newest === undefined ? (
          <Modal visible header={title} onDismiss={onDismiss}>
            {restore.none}
          </Modal>
        ) : (
          <RunDrill backup={newest} onDismiss={onDismiss} />
        )
      }
    </RecordDialog>
  );
}
