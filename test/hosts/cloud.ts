// What the tests of machines need from AWS: the secret that the keys derive from, the operator's settings, and the store.
import { afterAll } from "vitest";
import { BUCKET, type Local, PROVIDERS, SECRET, startLocal, useLocal } from "../local/services.ts";

/** Points this process at a local AWS for the calling file, stopped at its end. */
export async function ownAws(): Promise<Local> {
  const local = await startLocal({ dynamodb: false });
  afterAll(() => local.stop());
  useLocal(local, {
    AWS_SESSION_TOKEN: "",
    HOSTS_KEY: SECRET,
    PROVIDERS_SECRET: PROVIDERS,
    BACKUP_BUCKET: BUCKET,
    TABLE_NAME: "none",
    ENVIRONMENT: "live",
  });
  return local;
}
