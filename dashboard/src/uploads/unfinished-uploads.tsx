// Unfinished uploads: those that this browser has begun, and those that count although it knows nothing of them. Each can be
// aborted.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import * as z from "zod";
import { UnfinishedUpload } from "../../../shared/api/uploads.ts";
import { text } from "../messages/text.ts";
import { formatTime } from "../resource/words/moment.ts";
import { sizeInWords } from "../resource/words/size.ts";
import { AbortUpload } from "./abort.tsx";
import type { Unfinished } from "./unfinished.ts";

const TooMany = z.object({ details: z.object({ uploads: z.array(UnfinishedUpload) }) });

interface Props {
  /** What this browser has begun. */
  ownUploads: readonly Unfinished[];
  /** Why no other upload could begin: that there are too many names them all. */
  failure: unknown;
  onAborted: () => void;
}

export function UnfinishedUploads({ ownUploads, failure, onAborted }: Props) {
  const say = text.uploads.unfinished;
  const [aborted, setAborted] = useState<readonly string[]>([]);
  const noteAborted = (id: string): void => {
    setAborted([...aborted, id]);
    onAborted();
  };
  const listedElsewhere = new Set([...aborted, ...ownUploads.map(({ id }) => id)]);
  const otherUploads = (TooMany.safeParse(failure).data?.details.uploads ?? []).filter(({ id }) => !listedElsewhere.has(id));
  if (ownUploads.length + otherUploads.length === 0) return null;
  return (
    <Box margin={{ bottom: "l" }}>
      <SpaceBetween size="l">
        {ownUploads.map((upload) => (
          <Abortable key={upload.id} upload={upload} onAborted={noteAborted}>
            {say.about}
          </Abortable>
        ))}
        {otherUploads.map(({ note, created_at, ...upload }) => (
          <Abortable key={upload.id} upload={{ ...upload, name: note ?? formatTime(created_at) }} onAborted={noteAborted}>
            {say.elsewhere}
          </Abortable>
        ))}
      </SpaceBetween>
    </Box>
  );
}

interface AbortableProps {
  upload: { id: string; name: string; size_bytes: number };
  onAborted: (id: string) => void;
  children: ReactNode;
}

function Abortable({ upload: { id, name, size_bytes }, onAborted, children }: AbortableProps) {
  const { abort, unfinished } = text.uploads;
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Alert
        type="info"
        header={unfinished.title(name, sizeInWords(size_bytes))}
        action={<Button onClick={() => setAsking(true)}>{abort}</Button>}
      >
        {children}
      </Alert>
      {asking && <AbortUpload id={id} name={name} onAborted={() => onAborted(id)} onDismiss={() => setAsking(false)} />}
    </>
  );
}
