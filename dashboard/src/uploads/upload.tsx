// Uploads a backup that was made elsewhere: chooses the file, sends it, and follows its import to the backup.
import Spinner from "@cloudscape-design/components/spinner";
import { useEffect, useRef, useState } from "react";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { text } from "../messages/text.ts";
import { useWasEver } from "../resource/page/use-was-ever.ts";
import { NoServer } from "../servers/no-server.tsx";
import { useActiveServers } from "../servers/server-field.tsx";
import { Importing } from "./importing.tsx";
import { Sending } from "./sending.tsx";
import { type Begun, createTransfer, type Transfer } from "./transfer.ts";
import { UploadForm } from "./upload-form.tsx";

export default function UploadBackup() {
  const active = useActiveServers();
  const wasShown = useWasEver(active.total !== undefined && active.total > 0);
  const [begunUpload, setBegunUpload] = useState<Begun & { transfer: Transfer }>();
  const [backupId, setBackupId] = useState<string>();
  const latest = useRef<Transfer>(undefined);
  useEffect(() => () => latest.current?.stop(), []);

  const begin = (one: Begun): void => {
    const transfer = createTransfer(one.file, one.upload);
    latest.current = transfer;
    transfer.resume();
    setBegunUpload({ ...one, transfer });
  };
  const end = (): void => {
    latest.current?.stop();
    setBegunUpload(undefined);
    setBackupId(undefined);
  };
  return (
    <Page title={text.uploads.title} above={[{ text: text.uploads.backups, href: "/backups" }]}>
      {backupId !== undefined ? (
        <Importing id={backupId} onAgain={end} />
      ) : begunUpload !== undefined ? (
        <Sending begunUpload={begunUpload} active={active} onStored={setBackupId} onEnd={end} />
      ) : wasShown ? (
        <UploadForm active={active} onBegun={begin} />
      ) : active.total === 0 ? (
        <NoServer purpose={text.uploads.serverFor} />
      ) : active.error === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={active.error} retry={active.retry} />
      )}
    </Page>
  );
}
