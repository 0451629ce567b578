// Downloads a backup's archive: the URL is valid for minutes, so the page requests it at the click.
import { useMutation } from "@tanstack/react-query";
import type { Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { AFTER_LIMIT } from "../app/query-client.ts";
import { describeError } from "../app/words.ts";
import { text } from "../messages/text.ts";

export const sendDownload = ({ id }: Backup) => client.backups.download({ params: { id } });

export function useDownload(): (backup: Backup) => void {
  const { mutate } = useMutation({
    mutationFn: sendDownload,
    ...AFTER_LIMIT,
    // The storage responds with a file to save, so the page stays open.
    onSuccess: ({ data }) => window.location.assign(data.url),
    onError: (error, { id }) => {
      const say = text.backups.download;
      const failure = describeError(error);
      notify({
        id: `download ${id}`,
        type: "error",
        header: say.failed(failure.title),
        content: failure.requestId === undefined ? failure.text : say.withRequestId(failure.text, failure.requestId),
      });
    },
  });
  return mutate;
}
