// Deletes what failed before it is created again, because it holds the name.
import { client } from "../app/client.ts";
import { isMissing } from "../app/words.ts";

/** Each request waits for 20 seconds. */
const WAIT_SECONDS = 20;
const WAITS = 15;

/** Waits until it is gone, or throws why it cannot go; it may be gone already. `begin` begins the deletion. */
export async function deleteFirst(begin: () => Promise<{ data: { id: string } }>): Promise<void> {
  try {
    const deletion = await begin();
    for (let waits = 0; waits < WAITS; waits++) {
      const { data } = await client.operations.get({ params: { id: deletion.data.id }, query: { wait: WAIT_SECONDS } });
      if (data.finished_at !== null) return;
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
