// Whether the user must set up a second factor before they may do anything else: a response has said so.
import { errorIn } from "./error-in.ts";
import { subscribe } from "./session.ts";
import { createStore } from "./store.ts";

const mustSetUp = createStore(false);
export const useMustSetUp = mustSetUp.use;

export async function detectRequiredSetUp(response: Response): Promise<void> {
  if (response.status === 403 && (await errorIn(response))?.code === "SECOND_FACTOR_SETUP_REQUIRED") mustSetUp.set(true);
}

export const endSetUp = (): void => mustSetUp.set(false);

subscribe(endSetUp); // another session may have to, or not
