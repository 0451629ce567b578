// Makes new recovery codes, and shows them once.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { useMutation } from "@tanstack/react-query";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { saveFile } from "../resource/list/csv.ts";
import { Dialog } from "../resource/dialog/dialog.tsx";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";

export function NewCodes({ onDismiss }: { onDismiss: () => void }) {
  const say = text.settings.factors.codes;
  const send = () => client.secondFactors.renewCodes({ body: {} });
  const making = useMutation({ mutationFn: send });
  const codes = making.data?.data.codes.join("\n");
  if (codes !== undefined)
    return (
      <SecretOnce title={say.title} valueName={say.list} value={codes} onStored={onDismiss}>
        <Button iconName="download" onClick={() => saveFile(say.file, `${codes}\n`, "plain")}>
          {say.save}
        </Button>
      </SecretOnce>
    );
  return (
    <Dialog
      title={say.title}
      confirm={say.make}
      pending={making.isPending}
      error={making.error}
      send={send}
      onConfirm={() => making.mutate()}
      onDismiss={onDismiss}
    >
      <Alert type="info">{say.about}</Alert>
    </Dialog>
  );
}
