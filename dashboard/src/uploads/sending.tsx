// An upload in progress: how far it is, pause, resume and abort; once everything is stored, it is completed.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { isMissing, spanInWords } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { sizeInWords } from "../resource/words/size.ts";
import type { Pages } from "../resource/page/use-pages.ts";
import { ServerField } from "../servers/server-field.tsx";
import { AbortUpload } from "./abort.tsx";
import { FILE_UNREADABLE } from "./hashes.ts";
import { LeaveGuard } from "./leave-guard.tsx";
import type { Transfer, Transferring, Begun } from "./transfer.ts";
import { removeUnfinished } from "./unfinished.ts";

interface Props {
  begunUpload: Begun & { transfer: Transfer };
  active: Pages<ListedServer>;
  /** Gets the ID of the backup that the upload becomes. */
  onStored: (backupId: string) => void;
  onEnd: () => void;
}

export function Sending({ begunUpload: { file, upload, serverId, transfer }, active, onStored, onEnd }: Props) {
  const say = text.uploads;
  const state = transfer.use();
  const [aborting, setAborting] = useState(false);
  const [server_id, setServer] = useState(serverId);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (sha256: string) =>
      client.uploads.complete({
        params: { id: upload.id },
        body: { sha256, server_id },
        idempotencyKey: `${upload.id}-${server_id}`,
      }),
    onSuccess: ({ data }) => {
      removeUnfinished(upload.id);
      onStored(data.id);
    },
  });
  const { phase, sha256 } = state;
  useEffect(() => {
    if (sha256 !== undefined) mutate(sha256);
  }, [sha256, mutate]);
  const failure = state.error ?? error;
  return (
    <Container>
      <SpaceBetween size="l">
        <ProgressBar
          label={say.phases[phase](file.name)}
          value={file.size === 0 ? 0 : (100 * state.sent) / file.size}
          additionalInfo={progressInWords(state, file.size)}
          ariaLabel={say.progressOf(file.name)}
        />
        {failure !== null && failure !== undefined && (
          <Failure error={failure} {...(sha256 !== undefined && { retry: () => mutate(sha256) })} />
        )}
        <ServerField
          label={say.server.label}
          description={say.server.aboutLater}
          placeholder={say.server.placeholder}
          pages={active}
          chosen={server_id}
          error={undefined}
          onChange={setServer}
        />
        <SpaceBetween direction="horizontal" size="xs">
          <NextStep state={state} transfer={transfer} onEnd={onEnd} />
          <Button disabled={isPending} onClick={() => setAborting(true)}>
            {say.abort}
          </Button>
        </SpaceBetween>
        {phase === "sending" && <Box variant="small">{say.keepOpen}</Box>}
      </SpaceBetween>
      {aborting && <AbortUpload id={upload.id} name={file.name} onAborted={onEnd} onDismiss={() => setAborting(false)} />}
      <LeaveGuard active={phase === "sending" || isPending} />
    </Container>
  );
}

function NextStep({ state: { phase, error }, transfer, onEnd }: { state: Transferring; transfer: Transfer; onEnd: () => void }) {
  if (isLost(error))
    return (
      <Button variant="primary" onClick={onEnd}>
        {text.uploads.chooseAgain}
      </Button>
    );
  if (phase === "sending") return <Button onClick={transfer.pause}>{text.uploads.pause}</Button>;
  return (
    phase === "paused" && (
      <Button variant="primary" onClick={transfer.resume}>
        {text.uploads.resume}
      </Button>
    )
  );
}

/** Resuming would fail again: the upload is gone, or the file. */
const isLost = (error: unknown): boolean => isMissing(error) || (error instanceof ClientError && error.code === FILE_UNREADABLE);

/** "120 MB of 1.20 GB · 11.0 MB/s · 1 min 40 s left". */
function progressInWords({ phase, sent, read, perSecond }: Transferring, size: number): string {
  const say = text.uploads;
  const words = [say.sent(sizeInWords(sent), sizeInWords(size))];
  if (phase === "sending" && perSecond !== undefined && perSecond > 0 && sent < size)
    words.push(`${sizeInWords(Math.round(perSecond))}/s`, say.left(spanInWords(Math.ceil((size - sent) / perSecond))));
  if (phase === "sending" && read < size) words.push(say.checked(Math.floor((100 * read) / size)));
  return words.join(" · ");
}
