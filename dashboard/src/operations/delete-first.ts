// Deletes what failed before it is created again, because it holds the name.
import { ClientError } from "../../../shared/api/client-of.ts";
import { client } from "../app/client.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { errorInWords } from "../resource/words/sentence.ts";

/** Each request waits for 20 seconds. */
const WAIT_SECONDS = 20;
const WAITS = 15;

/** Waits until it is gone, or throws why it is not; it may be gone already. `begin` begins the deletion. */
export async function deleteFirst(begin: () => Promise<{ data: { id: string } }>): Promise<void> {
  try {
    const deletion = await begin();
    for (let waits = 0; waits < WAITS; waits++) {
      const { data } = await client.operations.get({ params: { id: deletion.data.id }, query: { wait: WAIT_SECONDS } });
      if (data.error !== null) throw new ClientError(data.error.code, errorInWords(data.error));
      if (data.finished_at !== null) return;
    }
    throw new ClientError("TIMEOUT", text.operations.notDeletedYet);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
