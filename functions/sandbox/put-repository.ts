// PUT /sandbox/repositories/:name
import { notFound } from "../../shared/api/errors.ts";
import * as sandbox from "../../shared/api/sandbox.ts";
import { isRepositoryName, addSandboxCommit } from "../../shared/providers/sandbox/repositories.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sandbox.putRepository)(async ({ params, body, caller }) => {
  if (!isRepositoryName(params.name)) throw notFound("repository");
  return addSandboxCommit(caller.account_id, params.name, body);
});
