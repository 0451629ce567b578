// Errors in the format of AWS's services, by protocol.
import * as z from "zod";
import { AwsFault, LocalError } from "../errors.ts";
import { toXml } from "../s3/xml.ts";
import type { ServiceResponse } from "./services.ts";
import type { HttpCall } from "./signature.ts";

export function s3Error({ name, message, status }: AwsFault, { method, path }: HttpCall, requestId: string): ServiceResponse {
  const body = toXml("Error", { Code: name, Message: message, Resource: path, RequestId: requestId });
  return { status, headers: { "content-type": "application/xml" }, ...(method === "HEAD" ? {} : { body }) };
}

// What a service throws to its caller has AWS's error code as its name; these are mistakes of ours.
const BUGS = /^(Aggregate|Type|Range|Reference|Syntax|Assertion|Local)?Error( \[.*)?$/;

export function toFault(error: unknown, log: (line: string) => void): AwsFault {
  if (error instanceof AwsFault) return error;
  if (error instanceof z.ZodError) return new AwsFault("ValidationException", z.prettifyError(error));
  if (error instanceof Error && "code" in error && error.code === "ECONNRESET")
    return new AwsFault("IncompleteBody", "The sender broke off");
  if (error instanceof Error && !BUGS.test(error.name)) return new AwsFault(error.name, error.message);
  log(`The local AWS failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return new AwsFault(
    "InternalServerError",
    error instanceof LocalError ? error.message : "The local AWS failed; its log says why",
    500,
  );
}
