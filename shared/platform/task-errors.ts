// How a task fails: try again or give up, with an error code and a reason for the user.
//
// A state machine passes on an error as a name and a text, so the code and the reason are encoded in that text and parsed again.
import * as z from "zod";
import { ApiError, OPERATION_ERRORS, type OperationErrorCode } from "../api/errors.ts";
import { because, inEnglish, type Reason, reasonIn } from "../domain/reasons.ts";
import { parseJson } from "../domain/json.ts";
import { isOutage } from "./outages.ts";

/** Why an operation failed. Without a reason if nobody knows that of its message, as of an earlier version's. */
export interface OperationError {
  code: OperationErrorCode;
  message: string;
  reason: Reason | null;
}

class TaskError extends Error {
  readonly code: OperationErrorCode;
  readonly reason: Reason;
  constructor(code: OperationErrorCode, reason: Reason, options?: ErrorOptions) {
    super(`${code}: ${inEnglish(reason)}`, options);
    this.code = code;
    this.reason = reason;
  }
}

/** Retry later: the state machine retries, a bounded number of times; then it is a failure like any other. */
export class TryAgain extends TaskError {
  override name = "TryAgain";
}

/** The poll asks again: no error, until the poll's time is over. */
export class NotYet extends TaskError {
  override name = "NotYet";
}

/** A retry would not help: the operation is undone. */
export class GiveUp extends TaskError {
  override name = "GiveUp";
  /** The end of a job's log, for whoever keeps it: it does not travel with the error. */
  readonly log: string | undefined;
  constructor(code: OperationErrorCode, reason: Reason, { log, ...options }: ErrorOptions & { log?: string | undefined } = {}) {
    super(code, reason, options);
    this.log = log;
  }
}

/** The same error, as one that is worth a retry. */
export const againAfter = (error: GiveUp): TryAgain => new TryAgain(error.code, error.reason, { cause: error });

/** The same error, as one that no retry helps. */
export const giveUpAfter = (error: TryAgain): GiveUp => new GiveUp(error.code, error.reason, { cause: error });

/** Errors that pass: a write that another one overtook, and a mistake in the operator's secret. */
const PASSING: readonly string[] = ["ConditionFailed", "Overtaken", "InvalidConfiguration"];

/** Whether the same call may succeed in a while: also after an outage, or throttling. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError && error.code === "SERVICE_UNAVAILABLE") return true;
  return isOutage(error) || (error instanceof Error && PASSING.includes(error.name));
}

export function asTaskError(error: unknown): unknown {
  if (error instanceof TaskError || !isPassing(error)) return error;
  return new TryAgain("INTERNAL_ERROR", because("service_unavailable"), { cause: error });
}

/** The error for the state machine, which passes on its name and its message: the reason is the message's last line. */
export function forStateMachine(error: unknown): unknown {
  if (error instanceof TaskError) error.message += `\n${JSON.stringify(error.reason)}`;
  return error;
}

/** An error as a state machine catches it, or as an ended execution reports it. */
export const CaughtError = z.object({ Error: z.string().optional(), Cause: z.string().optional() });
export type CaughtError = z.infer<typeof CaughtError>;

const FunctionFailure = z.object({ errorType: z.string(), errorMessage: z.string() });
const FORMATTED = new RegExp(`^(${OPERATION_ERRORS.join("|")}): (.+)$`, "s");
const TIMEOUTS = new Set(["States.Timeout", "States.HeartbeatTimeout", "Sandbox.Timedout"]);

/** Our error name for an execution that someone stopped; AWS gives it none. */
export const ABORTED = "Aborted";

/** The operation's error. Only our own messages are passed on: others may reveal internals. */
export function toOperationError(caught: CaughtError): OperationError {
  const failure = jsonIn(FunctionFailure, caught.Cause ?? "");
  const [, code, text] = (OURS.has(caught.Error ?? "") && FORMATTED.exec(failure?.errorMessage ?? "")) || [];
  const errorCode = OPERATION_ERRORS.find((each) => each === code);
  if (errorCode !== undefined && text !== undefined) return { code: errorCode, ...messageIn(text) };
  if (TIMEOUTS.has(caught.Error ?? "") || /Task timed out after/.test(failure?.errorMessage ?? ""))
    return operationError("TIMEOUT", because("operation_timed_out"));
  if (caught.Error === ABORTED) return operationError("CANCELLED", because("operation_stopped"));
  return operationError("INTERNAL_ERROR", because("internal_error"));
}
const OURS: ReadonlySet<string> = new Set(["NotYet", "TryAgain", "GiveUp"]);

export const operationError = (code: OperationErrorCode, reason: Reason): OperationError => ({
  code,
  message: inEnglish(reason),
  reason,
});

const PassedReason = z.object({ code: z.string(), parameters: z.record(z.string(), z.union([z.string(), z.number()])) });

/** A task of an earlier version, of whose execution this one has the end, has sent a message alone. */
function messageIn(text: string): Omit<OperationError, "code"> {
  const end = text.lastIndexOf("\n");
  const reason = end < 0 ? undefined : jsonIn(PassedReason, text.slice(end + 1));
  return reason === undefined ? { message: text, reason: reasonIn(text) } : { message: text.slice(0, end), reason };
}

/** Undefined for anything else: a cause of Step Functions itself is plain text. */
const jsonIn = <T>(schema: z.ZodType<T>, text: string): T | undefined => schema.safeParse(parseJson(text)).data;
