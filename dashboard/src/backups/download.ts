// Downloads a backup's archive: the URL is valid for minutes, so the page requests it at the click.
import { useMutation } from "@tanstack/react-query";
import type { Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { wordsOf } from "../app/words.ts";

export function useDownload(): (backup: Backup) => void {
  const { mutate } = useMutation({
    mutationFn: ({ id }: Backup) => client.backups.download({ params: { id } }),
    // The storage responds with a file to save, so the page stays open.
    onSuccess: ({ data }) => window.location.assign(data.url),
    onError: (error, { id }) => {
      const { title, text, requestId } = wordsOf(error);
      notify({
        id: `download ${id}`,
        type: "error",
        header: `Couldn't download the backup: ${title.charAt(0).toLowerCase()}${title.slice(1)}`,
        content: requestId === undefined ? text : `${text} Request ID: ${requestId}`,
      });
    },
  });
  return mutate;
}
