// The error in a response of the API, before the client reads it.
import { hasTexts } from "./has-texts.ts";

interface FoundError {
  code: string;
  message: string;
  details: unknown;
}

export async function errorIn(response: Response): Promise<FoundError | undefined> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (typeof body !== "object" || body === null || !("error" in body) || !hasTexts(body.error, "code", "message"))
    return undefined;
  const { code, message } = body.error;
  return { code, message, details: "details" in body.error ? body.error.details : undefined };
}
