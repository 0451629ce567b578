// The code of an instance as it is stored.
import * as z from "zod";
import type { Code } from "../../api/code.ts";
import { openEnum } from "../../data/stored.ts";
import { Reason } from "../../api/fields.ts";
import { count, noText, text } from "./fields.ts";

type AutoDeploy = Code["auto_deploy"];
type Follow = Code["image"]["follow"];

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

/** A variable with a value, or with a secret, which is encrypted, and its length in UTF-8. */
export const VariableRecord = z.looseObject({
  name: text,
  value: text.optional(),
  secret: text.optional(),
  secret_bytes: count.optional(),
});
export type VariableRecord = z.infer<typeof VariableRecord>;

/** The commit of a repository's ref. */
const CommitRecord = z.looseObject({
  url: text,
  ref: text,
  path: noText,
  commit: text,
  /** The fingerprint of the key that its ssh host is known by. */
  host_key: text.optional(),
});

const UnreadRecord = z.looseObject({ url: text, ref: text, path: noText, checked_at: text, reason: Reason });

const strings = z.array(text).default([]);

/** What is set by a request has defaults, because a deploy may be the first to write the item. */
export const CodeRecord = z.object({
  account_id: text,
  instance_id: text,
  /** Changes with what requests set, so that none is overtaken unseen. */
  revision: text.default(""),
  repositories: z.array(RepositoryRecord).default([]),
  python_packages: strings,
  allow_source_builds: z.boolean().default(false),
  install_modules: strings,
  environment: z.array(VariableRecord).default([]),
  updated_at: noText,
  auto_deploy: openEnum<AutoDeploy>().default("off"),
  /** Whether each deploy brings the newest image. */
  image: z.looseObject({ follow: openEnum<Follow>() }).default({ follow: "pinned" }),
  /** The deploy hook, of whose secret only the hash is kept. */
  hook_hash: noText,
  hook_last4: noText,
  hook_used_at: noText,
  /** What was last deployed. */
  deployed: z
    .looseObject({
      deploy_id: text,
      commits: z.array(CommitRecord),
      /** What the machine calls it, and its packages as they were resolved; unknown of deploys from before these were kept. */
      code_id: text.optional(),
      python_packages: z.array(text).optional(),
      /** Whether no changed module was left out, as by a deploy of named ones; unknown of older deploys and of backups. */
      whole: z.boolean().optional(),
    })
    .nullable()
    .default(null),
  /** The deploy after which a backup's data has replaced the database. */
  restored_after: noText,
  /** What the refs were when they were last checked. */
  checked: z.array(CommitRecord.extend({ checked_at: text })).default([]),
  /** The repositories whose refs could not be looked up then. Earlier versions read no entry of `checked` without a commit. */
  unread: z.array(UnreadRecord).default([]),
  /** The modules whose files differ at these commits from the code that the ERP had then, which has this name on the machine. */
  changed: z
    .looseObject({ compared_with: text, commits: z.array(text), modules: z.array(text) })
    .nullable()
    .default(null),
  /** The deploys that are kept, the newest first. */
  deploy_ids: strings,
});
export type CodeRecord = z.infer<typeof CodeRecord>;
export type UnreadRecord = z.infer<typeof UnreadRecord>;
export type CommitRecord = z.infer<typeof CommitRecord>;

/** The code of an instance's ERP, with what it takes to bring it to another one. */
export const BackupCode = z.object({
  /** The code as it was set, with encrypted tokens and secrets. */
  code: CodeRecord,
  commits: z.array(CommitRecord),
  python_packages: strings,
  /** The versions of the modules that its database has. */
  versions: z.record(text, text).default({}),
  /** The names of the instance and of the code on the machine where it was. */
  instance_id: text,
  code_id: text.optional(),
});
export type BackupCode = z.infer<typeof BackupCode>;

/** The key with which an account reads a repository. */
export const DeployKeyRecord = z.object({
  url: text,
  public_key: text,
  fingerprint: text,
  /** A seed of 32 bytes in hexadecimal, encrypted. */
  sealed_seed: text,
});
export type DeployKeyRecord = z.infer<typeof DeployKeyRecord>;
