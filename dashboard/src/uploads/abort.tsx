// The dialog that aborts an upload.
import { client } from "../app/client.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";
import { removeUnfinished } from "./unfinished.ts";

interface Props {
  id: string;
  /** Its file's, or what else distinguishes it. */
  name: string;
  onAborted: () => void;
  onDismiss: () => void;
}

export const AbortUpload = ({ id, name, onAborted, onDismiss }: Props) => (
  <Deletion
    of={id}
    title={text.uploads.abortTitle(name)}
    confirm={text.uploads.abort}
    send={() =>
      client.uploads.delete({ params: { id } }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      })
    }
    onDeleted={() => {
      removeUnfinished(id);
      onAborted();
    }}
    onDismiss={onDismiss}
  >
    {text.uploads.abortAbout}
  </Deletion>
);
