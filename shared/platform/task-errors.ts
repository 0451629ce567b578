// How a task fails: try again or give up, with an error code and a message for the user.
//
// A state machine passes on an error as a name and a text, so the code and message are encoded in that text and parsed again.
import * as z from "zod";
import { ApiError, OPERATION_ERRORS, type OperationErrorCode } from "../api/errors.ts";
import { isOutage } from "./outages.ts";

interface Reported {
  code: OperationErrorCode;
  message: string;
}

const format = ({ code, message }: Reported): string => `${code}: ${message}`;

class TaskError extends Error {
  readonly code: OperationErrorCode;
  constructor(code: OperationErrorCode, sentence: string, options?: ErrorOptions) {
    super(format({ code, message: sentence }), options);
    this.code = code;
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
}

/** The same error, as one that is worth a retry. */
export const againAfter = (error: GiveUp): TryAgain =>
  new TryAgain(error.code, error.message.slice(`${error.code}: `.length), { cause: error });

/** The same error, as one that no retry helps. */
export const giveUpAfter = (error: TryAgain): GiveUp =>
  new GiveUp(error.code, error.message.slice(`${error.code}: `.length), { cause: error });

/** Errors that pass: a write that another one overtook, and a mistake in the operator's secret. */
const PASSING: readonly string[] = ["ConditionFailed", "Overtaken", "InvalidConfiguration"];

/** Whether the same call may succeed in a while: also after an outage, or throttling. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError && error.code === "SERVICE_UNAVAILABLE") return true;
  return isOutage(error) || (error instanceof Error && PASSING.includes(error.name));
}

/** The error for the state machine. */
export function asTaskError(error: unknown): unknown {
  if (error instanceof TaskError || !isPassing(error)) return error;
  return new TryAgain("INTERNAL_ERROR", "The service was unavailable for too long", { cause: error });
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
export function operationErrorOf(caught: CaughtError): Reported {
  const failure = failureIn(caught.Cause);
  const [, code, message] = (OURS.has(caught.Error ?? "") && FORMATTED.exec(failure?.errorMessage ?? "")) || [];
  const known = OPERATION_ERRORS.find((each) => each === code);
  if (known !== undefined && message !== undefined) return { code: known, message };
  if (TIMEOUTS.has(caught.Error ?? "") || /Task timed out after/.test(failure?.errorMessage ?? ""))
    return { code: "TIMEOUT", message: "The operation timed out" };
  if (caught.Error === ABORTED) return { code: "CANCELLED", message: "The operator of the service stopped the operation" };
  return { code: "INTERNAL_ERROR", message: "Something went wrong on our side; include the operation ID when you report it" };
}
const OURS: ReadonlySet<string> = new Set(["NotYet", "TryAgain", "GiveUp"]);

function failureIn(cause: string | undefined): z.infer<typeof FunctionFailure> | undefined {
  try {
    return FunctionFailure.safeParse(JSON.parse(cause ?? "")).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // a cause of Step Functions itself is plain text
    throw error;
  }
}
