// What a machine says of an instance's repositories, as results and errors of operations.
import type { CodeResult } from "../../api/operations.ts";
import { because, inEnglish, type Reason, reasonIn } from "../../domain/reasons.ts";
import { jsonBytes, takeFitting } from "../../domain/json-bytes.ts";
import { fingerprintOf } from "../../platform/key-pair.ts";
import { GiveUp } from "../../platform/task-errors.ts";
import type { CommitRecord } from "../../records/schemas/code.ts";

type Repository = Pick<CommitRecord, "url" | "ref" | "path">;

/** What the lookup of a repository's ref found. */
interface Resolved {
  commit: string | null;
  problem: string | null;
}

/** A problem of a fetched repository, which is named by its index. */
interface Found {
  code: "CODE_UNREACHABLE" | "CODE_INVALID";
  repository: number;
  module: string | null;
  problem: string;
}

/** The commits that were found, with where they are from. */
export const toCommits = (
  repositories: readonly Repository[],
  resolved: readonly { commit: string | null; host_key?: string | null }[],
): CommitRecord[] =>
  repositories.flatMap(({ url, ref, path }, index) => {
    const { commit, host_key } = resolved[index] ?? {};
    return commit == null ? [] : [{ url, ref, path, commit, ...(host_key != null && { host_key: fingerprintOf(host_key) }) }];
  });

/** The repositories whose refs could not be looked up, and why. */
export const findUnread = (repositories: readonly Repository[], resolved: readonly Resolved[]) =>
  repositories.flatMap(({ url, ref, path }, index) => {
    const { problem = null } = resolved[index] ?? {};
    return problem === null ? [] : [{ url, ref, path, reason: explain(problem) }];
  });

type CodeProblem = CodeResult["problems"][number];

export const findProblems = (repositories: readonly Repository[], results: readonly (Resolved | Found)[]): CodeProblem[] =>
  results.flatMap((each, index): CodeProblem[] => {
    if (each.problem === null) return [];
    const { code, repository, module } =
      "code" in each ? each : { code: "CODE_UNREACHABLE" as const, repository: index, module: null };
    const reason = explain(each.problem);
    return [{ code, url: repositories[repository]?.url ?? "", module, message: inEnglish(reason), reason }];
  });

/** A machine says what it has found in sentences of ours; anything else is only quoted. */
const explain = (sentence: string): Reason =>
  reasonIn(sentence) ?? because("machine_reports_other", { output: sentence.slice(0, 400) });

/** A deploy stops at the first problem. */
export function requireNoProblem([first]: readonly CodeProblem[]): void {
  if (first !== undefined) throw new GiveUp(first.code, explain(first.message));
}

/** The JSON of an operation's result has room for so much of a check. */
const RESULT_BYTES_MAX = 16 * 1024;

/** Returns as much of a result as there is room for: half of the room is for the commits. The code itself shows all of them. */
export function fitted({ commits, problems }: CodeResult): CodeResult {
  const half = RESULT_BYTES_MAX / 2;
  const plain = jsonBytes(commits) <= half ? commits : commits.map((each) => ({ ...each, subject: null }));
  const excerpt = takeFitting(plain, half);
  return { commits: excerpt, problems: takeFitting(problems, RESULT_BYTES_MAX - jsonBytes(excerpt)) };
}
