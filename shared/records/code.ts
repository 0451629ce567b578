// The code of instances in the table: what is set for the next deploy, with its tokens and secrets encrypted, and what was
// deployed.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { Code, CODE_UNVERSIONED, type CodeFields, type RepositoryInput, type VariableInput } from "../api/code.ts";
import { ApiError, instanceBeingDeleted, notFound, type Problem } from "../api/errors.ts";
import { requireNone } from "../api/parse.ts";
import { type Change, now, Overtaken, startChange } from "../data/change.ts";
import { type Item, keys } from "../data/keys.ts";
import { find, type Ref, updateOne } from "../data/table.ts";
import { type Version, computeVersion } from "../data/versions.ts";
import { check } from "../data/writes.ts";
import { ENVIRONMENT_BYTES_MAX } from "../domain/code-rules.ts";
import { INSTANCE_RENAMABLE } from "../domain/lifecycle.ts";
import { inEnglish } from "../domain/reasons.ts";
import { utf8Bytes } from "../domain/json-bytes.ts";
import { seal } from "../platform/sealing.ts";
import { secretContext, tokenContext } from "./code-secrets.ts";
import { deployKeys } from "./deploy-keys.ts";
import { CodeRecord, type CommitRecord, RepositoryRecord, type UnreadRecord, type VariableRecord } from "./schemas/code.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import { sentFields } from "./sent-fields.ts";

export const codeRef = (accountId: string, instanceId: string): Ref<CodeRecord> => ({
  key: keys.code(accountId, instanceId),
  schema: CodeRecord,
});

/** The code of an instance for which none was set. */
export const emptyCode = ({ account_id, id }: Pick<InstanceRecord, "account_id" | "id">): CodeRecord =>
  CodeRecord.parse({ account_id, instance_id: id });

export const findCode = async (instance: Pick<InstanceRecord, "account_id" | "id">): Promise<CodeRecord> =>
  (await find(codeRef(instance.account_id, instance.id))) ?? emptyCode(instance);

/** Whether a commit is of this entry of the code. */
export const isCommitOf =
  ({ url, ref, path }: Pick<CommitRecord, "url" | "ref" | "path">) =>
  (commit: Pick<CommitRecord, "url" | "ref" | "path">): boolean =>
    commit.url === url && commit.ref === ref && commit.path === path;

/** Its repositories are read with what those of the same URL have now: a token may have been replaced since. */
export const withCurrentCredentials = (current: CodeRecord | undefined, code: CodeRecord): CodeRecord => ({
  ...code,
  repositories: code.repositories.map((repository) => {
    const { credential } = current?.repositories.find((each) => each.url === repository.url && each.credential !== null) ?? {};
    return credential === undefined ? repository : { ...repository, credential };
  }),
});

const showRepository =
  ({ deployed, checked, unread }: CodeRecord) =>
  (repository: RepositoryRecord): Code["repositories"][number] => {
    const { url, ref, path, credential, deploy_key } = repository;
    const checkedCommit = checked.find(isCommitOf(repository));
    // An earlier version of the service leaves it there when it finds a commit.
    const failed = checkedCommit === undefined ? unread.find(isCommitOf(repository)) : undefined;
    return {
      url,
      ref,
      path,
      credential: credential === null || credential === "deploy_key" ? credential : { username: credential.username },
      commit: deployed?.commits.find((each) => each.url === url && each.path === path)?.commit ?? null,
      newest_commit: checkedCommit?.commit ?? null,
      checked_at: checkedCommit?.checked_at ?? failed?.checked_at ?? null,
      problem: failed === undefined ? null : { message: inEnglish(failed.reason), reason: failed.reason },
      host_key: checkedCommit?.host_key ?? null,
      deploy_key: deploy_key && { public_key: deploy_key.public_key, fingerprint: deploy_key.fingerprint },
    };
  };

const showVariable = ({ name, value }: VariableRecord): Code["environment"][number] => ({
  name,
  ...(value !== undefined && { value }),
});

/** What an instance's server has reported. */
export type ImageFacts = Omit<Code["image"], "follow">;
const NO_FACTS: ImageFacts = { version: "", id: null, created_at: null, newest_created_at: null, update_available: null };

/** Whether each of its deploys brings the newest image. */
export const followsNewest = ({ image }: CodeRecord): boolean => image.follow === "newest";

/** Shows code without tokens and secrets. */
export const toCode = (record: CodeRecord, facts: ImageFacts = NO_FACTS): Code => ({
  ...record,
  image: { follow: record.image.follow, ...facts },
  repositories: record.repositories.map(showRepository(record)),
  environment: record.environment.map(showVariable),
  hook: record.hook_last4 === null ? null : { last4: record.hook_last4, last_used_at: record.hook_used_at },
});

export const codeVersion = (record: CodeRecord): Version =>
  computeVersion(codeRef(record.account_id, record.instance_id), record, {
    publicSchema: Code,
    unversioned: CODE_UNVERSIONED,
    represent: (code) => toCode(code),
  });

/** Sets the fields that were sent, if the code is still as it was read; `before` is undefined if there was none. */
export async function setCode(
  change: Change,
  instance: InstanceRecord,
  before: CodeRecord | undefined,
  { repositories, environment, ...fields }: CodeFields,
): Promise<CodeRecord> {
  const current = before ?? emptyCode(instance);
  const problems: Problem[] = [];
  const set = {
    ...sentFields(fields),
    ...(repositories !== undefined && { repositories: await storeRepositories(change, current, repositories, problems) }),
    ...(environment !== undefined && { environment: await storeEnvironment(current, environment, problems) }),
    revision: randomBytes(9).toString("base64url"),
    updated_at: now(),
  };
  requireNone(problems);
  requireInstanceKept(change, instance);
  const { key } = codeRef(change.accountId, instance.id);
  const overtaken = () =>
    new Overtaken("Another request changed the code at the same time; read it and try again if you need to", instance.id);
  // Only what was sent is stored, so that the code that a clone's backup brings later fills the other fields.
  if (before === undefined) change.put(key, { account_id: instance.account_id, instance_id: instance.id, ...set }, overtaken);
  else change.update(key, { set }, { unchanged: { revision: before.revision } }, overtaken);
  return { ...current, ...set };
}

/** Code of an instance that is gone, or will be, is nobody's. */
export function requireInstanceKept(change: Change, { id }: InstanceRecord): void {
  const where = { oneOf: { state: INSTANCE_RENAMABLE } };
  change.write(
    check(keys.record("instance", change.accountId, id), where, (item) =>
      item === undefined ? notFound("instance") : instanceBeingDeleted(String(item["state"])),
    ),
  );
}

async function storeRepositories(
  change: Change,
  current: CodeRecord,
  repositories: readonly RepositoryInput[],
  problems: Problem[],
): Promise<RepositoryRecord[]> {
  const urls = repositories.filter(({ credential }) => credential === "deploy_key").map(({ url }) => url);
  const existingKeys = await deployKeys(change, urls);
  return Promise.all(
    repositories.map(async ({ url, ref, path, credential }, index): Promise<RepositoryRecord> => {
      const repository = { url, ref, path, credential: null, deploy_key: null };
      const field = `repositories.${index}.credential`;
      const isStored = current.repositories.some((existing) => existing.url === url && existing.credential === credential);
      const reason = isStored ? undefined : findCredentialProblem(url, credential);
      if (reason !== undefined) problems.push({ field, reason });
      if (credential === null) return repository;
      if (credential === "deploy_key") return { ...repository, credential, deploy_key: existingKeys.get(url) ?? null };
      const token = await storeToken(current, url, credential);
      if (token === undefined) problems.push({ field: `${field}.token`, reason: "is required" });
      return { ...repository, credential: { username: credential.username, token: token ?? "" } };
    }),
  );
}

/** Entries that were stored before this was required may stay as they are: a public repository is read by https all the same. */
function findCredentialProblem(url: string, credential: RepositoryInput["credential"]): string | undefined {
  if (url.startsWith("ssh:")) return credential === "deploy_key" ? undefined : "must be deploy_key, because the URL is ssh";
  return credential === "deploy_key" ? "must be null or a token, because the URL is https" : undefined;
}

/** The token that was sent, or the one that the repository of the same URL has. */
async function storeToken(
  { account_id, repositories }: CodeRecord,
  url: string,
  { username, token }: { username: string; token?: string | undefined },
): Promise<string | undefined> {
  if (token !== undefined) return seal(token, tokenContext(account_id, url));
  const tokens = repositories.flatMap(({ url: other, credential }) =>
    other === url && credential !== null && credential !== "deploy_key" ? [credential] : [],
  );
  return (tokens.find((each) => each.username === username) ?? tokens[0])?.token;
}

async function storeEnvironment(
  current: CodeRecord,
  environment: readonly VariableInput[],
  problems: Problem[],
): Promise<VariableRecord[]> {
  const stored = await Promise.all(
    environment.map(async ({ name, value, secret }, index): Promise<VariableRecord> => {
      if (value !== undefined) return { name, value };
      if (secret !== undefined)
        return { name, secret: await seal(secret, secretContext(current.account_id, name)), secret_bytes: utf8Bytes(secret) };
      const existing = current.environment.find((variable) => variable.name === name && variable.secret !== undefined);
      if (existing === undefined) problems.push({ field: `environment.${index}.value`, reason: "is required" });
      return existing ?? { name };
    }),
  );
  const bytes = stored.reduce(
    (sum, { name, value = "", secret_bytes = 0 }) => sum + utf8Bytes(name) + utf8Bytes(value) + secret_bytes,
    0,
  );
  if (bytes > ENVIRONMENT_BYTES_MAX)
    problems.push({
      field: "environment",
      reason: `must have at most ${ENVIRONMENT_BYTES_MAX} bytes, names and values together`,
    });
  return stored;
}

const CheckRecord = z.looseObject({ operation_id: z.string(), repositories: z.array(RepositoryRecord).optional() });

/**
 * The repositories that a check is about, as they were when it first asked: its jobs on the machine number them, and a request
 * may set others meanwhile.
 */
export async function repositoriesInCheck(
  operationId: string,
  { account_id, instance_id, repositories }: CodeRecord,
): Promise<RepositoryRecord[]> {
  const where = { equals: { operation_id: operationId } };
  const { item } = await updateOne(keys.codeCheck(account_id, instance_id), { fill: { repositories } }, where);
  const check = CheckRecord.safeParse(item).data;
  return (check?.operation_id === operationId ? check.repositories : undefined) ?? repositories;
}

/** Shows the commits that a check or a deploy has found; requests set other fields. */
export async function recordChecked(
  instance: InstanceRecord,
  commits: readonly CommitRecord[],
  unread: readonly Omit<UnreadRecord, "checked_at">[] = [],
): Promise<void> {
  const checked_at = now();
  const at = <T>(entries: readonly T[]) => entries.map((entry) => ({ ...entry, checked_at }));
  await writeFacts(instance, { checked: at(commits), unread: at(unread) });
}

/** Keeps which modules a check has found changed, for dry runs. */
export const recordChanged = (instance: InstanceRecord, changed: CodeRecord["changed"]): Promise<void> =>
  writeFacts(instance, { changed });

/** Shows what an instance's ERP has from now on. */
export async function recordDeployed(instance: InstanceRecord, deployed: NonNullable<CodeRecord["deployed"]>): Promise<void> {
  const { deployed: before, deploy_ids } = await findCode(instance);
  // Its plan was kept only because the ERP had its code.
  const isOver = before !== null && before.deploy_id !== deployed.deploy_id && !deploy_ids.includes(before.deploy_id);
  await writeFacts(instance, { deployed }, (change) => {
    if (isOver) change.remove(keys.deployPlan(instance.account_id, before.deploy_id), { exists: false });
  });
}

/** A backup's data has replaced the database: what the last deploy says of its modules' versions holds no longer. */
export async function recordRestored(instance: InstanceRecord): Promise<void> {
  const { deployed } = await findCode(instance);
  if (deployed !== null) await writeFacts(instance, { restored_after: deployed.deploy_id });
}

/** Writes facts about code, also where a request has set nothing. Nothing is left of an instance that was deleted meanwhile. */
async function writeFacts(
  { account_id, id }: InstanceRecord,
  facts: Item,
  also: (change: Change) => void = () => undefined,
): Promise<void> {
  const change = startChange({ id: account_id });
  change.write(check(keys.record("instance", account_id, id), {}, () => notFound("instance")));
  change.update(keys.code(account_id, id), { set: { ...facts, account_id, instance_id: id } }, { exists: false });
  also(change);
  try {
    await change.commit();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "NOT_FOUND") throw error;
  }
}
