// Tells how the user's operations have ended.
import type { BulkResult, Operation } from "../../../shared/api/operations.ts";
import { DRILL } from "../../../shared/domain/lifecycle.ts";
import { RequestId } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { checkInSentence, errorInWords } from "../resource/words/sentence.ts";
import { workOf } from "./words.ts";

export function notifyEnd(operation: Operation): void {
  const { id, type, resource, result, request_id } = operation;
  const about = nameIn(resource);
  const failure = failureOf(operation);
  if (result?.bulk !== undefined) return notifyBulkEnd(operation, result.bulk);
  if (failure !== undefined)
    notify({
      id,
      type: "error",
      header: `${failure.header}${about}`,
      content: (
        <>
          {failure.reason}
          <RequestId id={request_id} />
        </>
      ),
    });
  else
    notify({
      id,
      type: "success",
      header: `${workOf(type).succeeded}${about}`,
      ...(result?.host_skipped === true && { content: text.operations.hostSkipped }),
    });
}

/** A bulk action succeeds whatever becomes of its resources: how many it did says how it went. */
function notifyBulkEnd({ id, type, error }: Operation, { succeeded, total }: BulkResult): void {
  const say = text.operations.bulk;
  notify({
    id,
    type: succeeded === total ? "success" : "error",
    header: `${error === null ? workOf(type).succeeded : workOf(type).failed}: ${say.done(succeeded, total)}`,
    content: (
      <>
        {error !== null && `${errorInWords(error)} `}
        <Link to={`/operations/${id}`}>{say.results}</Link>
      </>
    ),
  });
}

/** Older operations have none, and an older service sends none. */
const nameIn = ({ name = null }: Partial<Operation["resource"]>): string => (name === null ? "" : `: ${name}`);

/** A restore drill of which a check fails is an operation that succeeded. */
function failureOf({ type, status, error, result }: Operation): { header: string; reason: string | undefined } | undefined {
  if (status === "failed") return { header: workOf(type).failed, reason: error === null ? undefined : errorInWords(error) };
  if (result?.drill?.status !== DRILL.failed) return undefined;
  const check = result.drill.checks.find(({ passed }) => passed === false);
  return { header: text.operations.drillFailed, reason: check && checkInSentence(check) };
}
