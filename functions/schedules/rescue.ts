// Called with every execution that failed, timed out or was aborted: starts the undo of what it left.
import * as z from "zod";
import { findOperation } from "../../shared/records/operations.ts";
import { readError } from "../../shared/runtime/executions.ts";
import { log } from "../../shared/platform/log.ts";
import { rescue } from "../../shared/runtime/rescue.ts";

const Ended = z.object({
  detail: z.object({
    name: z.string(),
    status: z.string(),
    input: z.string(),
    error: z.string().nullish(),
    cause: z.string().nullish(),
  }),
});
const Input = z.object({ account_id: z.string(), operation_id: z.string() });

export const handler = async (event: unknown): Promise<void> => {
  const { detail } = Ended.parse(event);
  const { account_id, operation_id } = Input.parse(JSON.parse(detail.input));
  const operation = await findOperation(account_id, operation_id);
  if (operation === undefined) log.info("an execution failed after its operation was withdrawn", { operation: operation_id });
  else await rescue(operation, { name: detail.name, error: readError(detail) });
};
