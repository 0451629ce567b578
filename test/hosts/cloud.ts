// What the tests of machines need from AWS: the secret that the keys derive from, the operator's settings, and the store.
import { afterAll } from "vitest";
import { BUCKET, type Local, PROVIDERS, SECRET, startLocal } from "../local/services.ts";

/** Points this process at a local AWS for the calling file, stopped at its end. */
export async function ownAws(): Promise<Local> {
  const local = await startLocal({ dynamodb: false });
  afterAll(() => local.stop());
  const { region, credentials } = local.as("operator");
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ENDPOINT_URL: local.aws.url,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: "",
    HOSTS_KEY: SECRET,
    PROVIDERS_SECRET: PROVIDERS,
    BACKUP_BUCKET: BUCKET,
    TABLE_NAME: "none",
    ENVIRONMENT: "live",
  });
  return local;
}
