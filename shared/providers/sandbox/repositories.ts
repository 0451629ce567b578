// The sandbox's repositories: names below https://git.example/, with the modules that were put there.
import { createHash, randomBytes } from "node:crypto";
import * as z from "zod";
import { keys } from "../../data/keys.ts";
import { find, updateOne } from "../../data/table.ts";
import { isCommit } from "../../domain/code-rules.ts";
import { takeFitting } from "../../domain/json-bytes.ts";

const HOST = /^(?:https:\/\/|ssh:\/\/git@)git\.example\/([a-z0-9][a-z0-9-]{0,62})(?:\.git)?$/;
export const isRepositoryName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(name);

/** Refs at which something fails, or takes its time. They have the modules of the newest commit. */
export const SPECIAL_REFS = {
  brokenManifest: "broken-manifest",
  failBuild: "fail-build",
  failRehearsal: "fail-rehearsal",
  failUpdate: "fail-update",
  moved: "moved",
  slow: "slow",
} as const;
const SPECIAL: readonly string[] = Object.values(SPECIAL_REFS);
const isSpecialRef = (ref: string): boolean => SPECIAL.includes(ref);

const Modules = z.record(z.string(), z.string());
const Repository = z.object({
  /** The commits in JSON, because DynamoDB keeps no order. The newest comes first. */
  commits: z.string(),
});
const Commits = z.array(z.object({ commit: z.string(), ref: z.string(), modules: Modules }));
type SandboxCommit = z.infer<typeof Commits>[number];

/** What a repository has for which there was no PUT. */
const FIRST_MODULES = { acme: "1.0" };
/** So many commits can be gone back to, if they have room: DynamoDB takes 400 KB. */
const COMMITS_MAX = 50;
const COMMITS_BYTES_MAX = 300_000;
const WRITE_TRIES = 5;

async function readCommits(accountId: string, name: string): Promise<{ text: string | undefined; commits: SandboxCommit[] }> {
  const repository = await find({ key: keys.sandboxRepository(accountId, name), schema: Repository });
  return { text: repository?.commits, commits: repository === undefined ? [] : Commits.parse(JSON.parse(repository.commits)) };
}

export async function addSandboxCommit(
  accountId: string,
  name: string,
  { ref, modules }: { ref: string; modules: Record<string, string> },
): Promise<SandboxCommit & { url: string }> {
  for (let attempt = 1; attempt <= WRITE_TRIES; attempt++) {
    const { text, commits } = await readCommits(accountId, name);
    const added = { commit: randomBytes(20).toString("hex"), ref, modules };
    const { done } = await updateOne(
      keys.sandboxRepository(accountId, name),
      { set: { commits: JSON.stringify(takeFitting([added, ...commits].slice(0, COMMITS_MAX), COMMITS_BYTES_MAX)) } },
      { exists: false, same: { commits: text } },
    );
    if (done) return { url: `https://git.example/${name}`, ...added };
  }
  throw new Error(`Too many writes to the sandbox repository ${name} at the same time`);
}

/** The newest commit of a ref, or the commit itself; undefined if the repository does not have it. */
export async function findSandboxCommit(accountId: string, url: string, ref: string): Promise<SandboxCommit | undefined> {
  const [, name] = HOST.exec(url) ?? [];
  if (name === undefined) return undefined;
  const { commits } = await readCommits(accountId, name);
  const found = commits.find((each) => each.ref === ref || each.commit === ref);
  if (found !== undefined) return found;
  if (commits.length > 0 && !isSpecialRef(ref)) return undefined;
  const commit = isCommit(ref) ? ref : hashOf(name, ref, commits[0]);
  return { commit, ref, modules: commits[0]?.modules ?? FIRST_MODULES };
}

/** What is fetched: the commit that a ref was found to be, also one from before the first PUT. */
export async function fetchSandboxCommit(
  accountId: string,
  { url, ref, commit }: { url: string; ref: string; commit: string },
): Promise<SandboxCommit | undefined> {
  const [, name = ""] = HOST.exec(url) ?? [];
  if (isSandboxUrl(url) && commit === hashOf(name, ref)) return { commit, ref, modules: FIRST_MODULES };
  return findSandboxCommit(accountId, url, isSpecialRef(ref) ? ref : commit);
}

const hashOf = (name: string, ref: string, newest?: SandboxCommit): string =>
  createHash("sha1")
    .update(`${name} ${ref} ${newest?.commit ?? ""}`)
    .digest("hex");

/** Whether there is such a repository at all. */
export const isSandboxUrl = (url: string): boolean => HOST.test(url);
