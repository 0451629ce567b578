// What the steps of checking an instance's code do.
import { fitted, findProblems, findUnread, toCommits } from "../../../shared/operations/code/code-checks.ts";
import { findCode, recordChanged, recordChecked, repositoriesInCheck } from "../../../shared/records/code.ts";
import { openRepositories } from "../../../shared/records/code-secrets.ts";
import { addResult } from "../../../shared/records/operations.ts";
import { run } from "../../../shared/hosts/index.ts";
import { tasks, jobIdFor, type Work } from "../../../shared/runtime/tasks.ts";
import type { InputOf } from "../../../shared/domain/workflow.ts";
import workflow from "./workflow.ts";

/** What a dry run has room for; of more it says that they are known once the code was fetched. */
const NAMES_BYTES_MAX = 4 * 1024;

type Check = Work<InputOf<typeof workflow>>;

export const handler = tasks(workflow, {
  resolveCode: async (work) => {
    const { resolved, code } = await resolve(work);
    if (!resolved.ready) return false;
    const { commits } = resolved.result;
    await recordChecked(await work.instance(), toCommits(code.repositories, commits), findUnread(code.repositories, commits));
    return true;
  },

  inspectCode: async (work) => {
    const { operation, input, instance, server, jobId } = work;
    const { resolved, code, repositories } = await resolve(work);
    if (!resolved.ready) return false;
    const { commits } = resolved.result;
    // Those that have a commit; the machine numbers what it is given.
    const fetched = repositories.flatMap((repository, index) => {
      const commit = commits[index]?.commit;
      return commit == null ? [] : [{ index, repository: { ...repository, commit } }];
    });
    const inspected = await run(await server(), {
      id: jobId,
      kind: "fetch_code",
      instance_id: input.instance_id,
      code_id: operation.id,
      repositories: fetched.map(({ repository }) => repository),
      environment: [],
      named_modules: [],
      keep: false,
    });
    if (!inspected.ready) return false;
    const { subjects, problems } = inspected.result;
    const codeResult = {
      commits: commits.map(({ commit }, index) => ({
        url: code.repositories[index]?.url ?? "",
        ref: code.repositories[index]?.ref ?? "",
        commit,
        subject: subjects[fetched.findIndex((each) => each.index === index)] ?? null,
      })),
      problems: [
        ...findProblems(code.repositories, commits),
        ...findProblems(
          fetched.map(({ repository }) => repository),
          problems,
        ),
      ],
    };
    const changed = inspected.result.modules.filter((module) => module.changed).map(({ name }) => name);
    const { compared_with } = inspected.result;
    const isWhole = codeResult.problems.length === 0 && Buffer.byteLength(changed.join()) <= NAMES_BYTES_MAX;
    await recordChanged(
      await instance(),
      compared_with === null || !isWhole
        ? null
        : { compared_with, commits: fetched.map(({ repository }) => repository.commit), modules: changed },
    );
    await addResult(operation, { code: fitted(codeResult) });
    return true;
  },
});

/** Starting a job again with the same ID returns its result. */
async function resolve({ operation, input, instance, server }: Check) {
  const current = await findCode(await instance());
  const code = { ...current, repositories: await repositoriesInCheck(operation.id, current) };
  const repositories = await openRepositories(code);
  const job = {
    id: jobIdFor(operation, "resolveCode"),
    kind: "resolve_code",
    instance_id: input.instance_id,
    repositories,
    hold: false,
    trust_new_host_keys: input.trust_new_host_keys,
  } as const;
  return { resolved: await run(await server(), job), code, repositories };
}
