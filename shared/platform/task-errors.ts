// How long work fails: try again or give up, with a code and a sentence for whoever asked for the work.
//
// A state machine hands an error on as a name and a text, so code and sentence are spelled into the message and read back.
import * as z from "zod";
import { ApiError, OPERATION_ERRORS, type OperationErrorCode } from "../api/errors.ts";
import { isOutage } from "./outages.ts";

interface Told {
  code: OperationErrorCode;
  message: string;
}

const spell = ({ code, message }: Told): string => `${code}: ${message}`;

/** Not now: the state machine tries again, a bounded number of times; then it is a failure like any other. */
export class TryAgain extends Error {
  override name = "TryAgain";
  readonly code: OperationErrorCode;
  constructor(code: OperationErrorCode, sentence: string, options?: ErrorOptions) {
    super(spell({ code, message: sentence }), options);
    this.code = code;
  }
}

/** Trying again would not help: what was done is undone. */
export class GiveUp extends Error {
  override name = "GiveUp";
  readonly code: OperationErrorCode;
  constructor(code: OperationErrorCode, sentence: string, options?: ErrorOptions) {
    super(spell({ code, message: sentence }), options);
    this.code = code;
  }
}

/** The same failure, of what is worth another try. */
export const againAfter = (error: GiveUp): TryAgain =>
  new TryAgain(error.code, error.message.slice(`${error.code}: `.length), { cause: error });

/** Whether the same call may succeed in a while: an outage, throttling, a write that another one overtook. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === "SERVICE_UNAVAILABLE";
  return isOutage(error) || (error instanceof Error && error.name === "ConditionFailed");
}

/** The error that a state machine is to see. */
export function asTaskError(error: unknown): unknown {
  if (error instanceof TryAgain || error instanceof GiveUp || !isPassing(error)) return error;
  return new TryAgain("INTERNAL_ERROR", "The service was unavailable for too long", { cause: error });
}

/** An error as a state machine catches it, or as an execution's end tells it. */
export const CaughtError = z.object({ Error: z.string().optional(), Cause: z.string().optional() });
export type CaughtError = z.infer<typeof CaughtError>;

const FunctionFailure = z.object({ errorType: z.string(), errorMessage: z.string() });
const SPELLED = new RegExp(`^(${OPERATION_ERRORS.join("|")}): (.+)$`, "s");
const TIMEOUTS = new Set(["States.Timeout", "States.HeartbeatTimeout", "Sandbox.Timedout"]);

/** Name of the error of an execution that somebody stopped; such an end comes without one. */
export const ABORTED = "Aborted";

/** What the operation tells of a failure. Only our own sentences are passed on: others may say too much of the inside. */
export function operationErrorOf(caught: CaughtError): Told {
  const failure = failureIn(caught.Cause);
  const [, code, message] = (OURS.has(caught.Error ?? "") && SPELLED.exec(failure?.errorMessage ?? "")) || [];
  const known = OPERATION_ERRORS.find((each) => each === code);
  if (known !== undefined && message !== undefined) return { code: known, message };
  if (TIMEOUTS.has(caught.Error ?? "") || /Task timed out after/.test(failure?.errorMessage ?? ""))
    return { code: "TIMEOUT", message: "The operation timed out" };
  if (caught.Error === ABORTED) return { code: "CANCELLED", message: "The operator of the service stopped the operation" };
  return { code: "INTERNAL_ERROR", message: "Something went wrong on our side; include the operation ID when you report it" };
}
const OURS: ReadonlySet<string> = new Set(["TryAgain", "GiveUp"]);

function failureIn(cause: string | undefined): z.infer<typeof FunctionFailure> | undefined {
  try {
    return FunctionFailure.safeParse(JSON.parse(cause ?? "")).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // a cause of Step Functions itself is plain text
    throw error;
  }
}
