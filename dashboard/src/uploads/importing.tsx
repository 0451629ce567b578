// The import of an uploaded archive: its progress, then the backup, or why it failed.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useNavigate } from "react-router";
import { RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { Failure } from "../app/failure.tsx";
import { backups } from "../app/queries.ts";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";
import { Progress } from "../operations/progress.tsx";
import { Reason } from "../resource/words/reason.tsx";

const ImportAgain = lazily(async () => (await import("./import-again.tsx")).ImportAgain, "allowed", "backupDialogs", "servers");

export function Importing({ id, onAgain }: { id: string; onAgain: () => void }) {
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(backups.one(id));
  const backup = data?.data;
  const isUsable = backup !== undefined && RESTORABLE.includes(backup.status);
  useEffect(() => {
    if (isUsable) void navigate(`/backups?backup=${id}`, { replace: true });
  }, [isUsable, id, navigate]);
  if (backup !== undefined)
    return (
      <>
        <Progress id={backup.operation_id} />
        <Reason
          of={backup}
          action={
            <SpaceBetween direction="horizontal" size="xs">
              <ImportAgain backup={backup} />
              <Button onClick={onAgain}>{text.uploads.another}</Button>
            </SpaceBetween>
          }
        />
      </>
    );
  return error === null ? <Spinner size="large" /> : <Failure error={error} retry={() => void refetch()} />;
}
