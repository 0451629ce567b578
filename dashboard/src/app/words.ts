// Errors in words for the user.
import { ClientError } from "../../../shared/api/client-of.ts";
import { ApiError, type Problem } from "../../../shared/api/errors.ts";
import { recognizeProblem } from "../../../shared/domain/problems.ts";
import { text } from "../messages/text.ts";
import { retryAfterSeconds } from "./limit.ts";
import { recognized } from "./recognized.ts";

interface Words {
  title: string;
  text: string;
  /** The ID for support. */
  requestId: string | undefined;
}

export function describeError(error: unknown): Words {
  if (!(error instanceof ClientError)) return { ...text.app.failure.unknown, requestId: undefined };
  return { ...wordsFor(error), requestId: error.requestId === "" ? undefined : error.requestId };
}

function wordsFor(error: ClientError): Omit<Words, "requestId"> {
  const say = text.app.failure;
  if (error.code === "NETWORK_ERROR") return say.network;
  if (error.code === "RATE_LIMIT_EXCEEDED")
    return { title: say.limit.title, text: say.limit.text(spanInWords(retryAfterSeconds(error) ?? 0)) };
  if (error.status >= 500 || error.code === "UNEXPECTED_RESPONSE")
    return { title: say.service, text: `${recognized(error.message)}.` };
  if (error.code === "NOT_FOUND") return say.missing;
  if (error.code === "PRECONDITION_FAILED") return say.changed;
  const missing = error.code === "FORBIDDEN" ? needIn(error.message) : undefined;
  if (missing !== undefined) return { title: text.app.missing.title, text: missingInWords(missing) };
  return { title: say.rejected, text: sentencesOf(error) };
}

/** Which permission or role is missing, by the API's error. */
function needIn(message: string): string | undefined {
  const problem = recognizeProblem(message);
  if (problem?.code === "error_role_owner") return "owner";
  if (problem?.code === "error_role_admin") return "admin";
  return problem?.code === "error_permission_named" ? problem.parameters["permission"] : undefined;
}

/** That a permission or role is missing, and who can give it. A newer service may have others. */
export function missingInWords(need: string): string {
  const { missing, permissions } = text.app;
  if (need === "owner" || need === "admin") return missing[need];
  const names: Readonly<Record<string, string>> = permissions.names;
  return missing.permission(names[need] ?? need, need);
}

/** The message, or what it sums up: the fields with their reasons. */
function sentencesOf({ message, details }: ClientError): string {
  const problems = listedIn(details);
  return problems.length === 0
    ? `${recognized(message)}.`
    : problems.map(({ field, reason }) => `${field} ${recognized(reason)}.`).join(" ");
}

/** A number of seconds in words: "4 min 10 s", "2 h 5 min". */
export function spanInWords(seconds: number): string {
  const say = text.app.span;
  if (seconds >= 3600) return say.hours(Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60));
  const minutes = Math.floor(seconds / 60);
  const rest = Math.ceil(seconds % 60);
  return [minutes > 0 ? say.minutes(minutes) : "", rest > 0 || minutes === 0 ? say.seconds(rest) : ""].filter(Boolean).join(" ");
}

/** The invalid fields with their reasons, from the API's error; empty for other errors. */
export function problemsOf(error: unknown): Problem[] {
  if (!(error instanceof ClientError || error instanceof ApiError)) return [];
  const { details, message, code } = error;
  const listed = listedIn(details);
  if (listed.length > 0) return listed;
  // A taken value: the message says so, and `details` names the field.
  if (code === "CONFLICT" && typeof details?.["field"] === "string") return [{ field: details["field"], reason: message }];
  return [];
}

const listedIn = (details: ClientError["details"]): Problem[] =>
  Array.isArray(details?.["errors"]) ? details["errors"].filter(isProblem) : [];

function isProblem(value: unknown): value is Problem {
  return (
    typeof value === "object" &&
    value !== null &&
    "field" in value &&
    typeof value.field === "string" &&
    "reason" in value &&
    typeof value.reason === "string"
  );
}

export const isMissing = (error: unknown): boolean => error instanceof ClientError && error.code === "NOT_FOUND";

/** Whether the same request may well succeed in a moment. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ClientError && (error.status === 0 || error.status === 429 || error.status >= 500);
