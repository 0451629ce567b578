// The code of an instance as it is stored.
import * as z from "zod";
import { count, noText, text } from "./fields.ts";

/** A token is encrypted. */
const Credential = z.union([z.literal("deploy_key"), z.looseObject({ username: text, token: text })]).nullable();

export const RepositoryRecord = z.looseObject({
  url: text,
  ref: text,
  path: noText,
  credential: Credential,
  /** The public half of the account's key for the repository. */
  deploy_key: z.looseObject({ public_key: text, fingerprint: text }).nullable().default(null),
});
export type RepositoryRecord = z.infer<typeof RepositoryRecord>;

/** With a value, or with a secret, which is encrypted, and its length in UTF-8. */
export const VariableRecord = z.looseObject({
  name: text,
  value: text.optional(),
  secret: text.optional(),
  secret_bytes: count.optional(),
});
export type VariableRecord = z.infer<typeof VariableRecord>;

export const CodeRecord = z.object({
  account_id: text,
  instance_id: text,
  /** Changes with every write, so that none is overtaken unseen. */
  revision: text,
  repositories: z.array(RepositoryRecord),
  python_packages: z.array(text),
  allow_source_builds: z.boolean(),
  install_modules: z.array(text),
  environment: z.array(VariableRecord),
  updated_at: noText,
});
export type CodeRecord = z.infer<typeof CodeRecord>;

/** The key with which an account reads a repository. */
export const DeployKeyRecord = z.object({
  url: text,
  public_key: text,
  fingerprint: text,
  /** Of 32 bytes in hexadecimal, encrypted. */
  sealed_seed: text,
});
export type DeployKeyRecord = z.infer<typeof DeployKeyRecord>;
