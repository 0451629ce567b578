// The keys of another store, from the secret that the operator of a deployment fills in (docs/deploy.md, "Another store for
// archives").
import * as z from "zod";
import { unavailable } from "../api/errors.ts";
import { parseJson } from "../domain/json.ts";
import { createSecretReader } from "../platform/secret-reader.ts";

const Keys = z.strictObject({ access_key_id: z.string().min(1), secret_access_key: z.string().min(1) });

interface StoreKeys {
  accessKeyId: string;
  secretAccessKey: string;
  /** The time when the SDK asks for them again. */
  expiration: Date;
}

/**
 * Until the operator corrects the secret, requests get 503 and tasks wait. The value is not repeated: it may be a key in the
 * wrong place.
 */
export const storeKeys: () => Promise<StoreKeys> = createSecretReader("BACKUP_S3_SECRET", (text, expiration) => {
  const { success, data } = Keys.safeParse(parseJson(text));
  if (!success) throw unavailable(new Error("The secret `StoreKeys` must have access_key_id and secret_access_key"));
  return { accessKeyId: data.access_key_id, secretAccessKey: data.secret_access_key, expiration };
});
