// The body of a request: small enough, JSON, and an object without duplicate keys.
import type { MiddlewareObj } from "@middy/core";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import * as z from "zod";
import { ApiError, contentEncodingNotTaken, invalid, unknownField } from "../api/errors.ts";
import { BODY_BYTES_MAX } from "../domain/limits.ts";
import { header } from "./request-context.ts";

/** The gateway's replacement for bytes that are not UTF-8: storing it would change what was sent. */
const NOT_UTF8 = "\uFFFD";

/** A request nested deeper is an attack on a parser, not a request. */
const NESTING_MAX = 32;
/** The part of a client's own key that an error shows. */
const KEY_SHOWN = 100;
const parseJson = httpJsonBodyParser({ disableContentTypeCheck: true });

/** 413, 415 and 400: leaves the parsed object as the event's body. */
export function parseBody(): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  return {
    before: async (request) => {
      const { event } = request;
      const coding = header(event.headers, "content-encoding")?.trim() ?? "";
      // API Gateway has undone these; a body in any other would be taken for broken JSON.
      if (!/^(?:identity|gzip|x-gzip|deflate)?$/i.test(coding)) throw contentEncodingNotTaken();
      const text = (event.body ?? "").replace(/^\ufeff/, ""); // which some editors and shells put before a file's text
      event.body = text;
      const bytes = Buffer.byteLength(text, event.isBase64Encoded ? "base64" : "utf8");
      if (bytes > BODY_BYTES_MAX) throw new ApiError("PAYLOAD_TOO_LARGE");
      if (bytes > 0 && !/^application\/json\s*(?:;|$)/i.test(header(event.headers, "content-type") ?? ""))
        throw new ApiError("UNSUPPORTED_MEDIA_TYPE");
      if (text.includes(NOT_UTF8))
        throw new ApiError(
          "MALFORMED_REQUEST",
          "The request body is not valid UTF-8, or contains the replacement character U+FFFD",
        );
      const { depth, repeated } = outline(text);
      if (depth > NESTING_MAX)
        throw new ApiError("MALFORMED_REQUEST", `The request body is nested deeper than ${NESTING_MAX} levels`);
      if (repeated !== undefined)
        throw new ApiError(
          "MALFORMED_REQUEST",
          `The request body has the key "${repeated.slice(0, KEY_SHOWN)}" more than once in an object`,
        );
      if (text.trim() === "") event.body = "{}";
      try {
        await parseJson.before?.(request);
      } catch (error) {
        const key = forbiddenKey(error);
        if (key !== undefined) throw invalid(unknownField(pathTo(key, JSON.parse(text))?.join(".") ?? key));
        throw new ApiError("MALFORMED_REQUEST", undefined, { cause: error });
      }
      const body: unknown = event.body;
      if (typeof body !== "object" || body === null || Array.isArray(body)) throw new ApiError("MALFORMED_REQUEST");
    },
  };
}

/** The depth of brackets outside strings, and duplicate keys: checked before parsing, which recurses and keeps the last one. */
function outline(text: string): { depth: number; repeated: string | undefined } {
  const open: Set<string>[] = [];
  let depth = 0;
  let repeated: string | undefined;
  let before = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}:]/gs)) {
    if (token === "[" || token === "{") depth = Math.max(depth, open.push(new Set()));
    else if (token === "]" || token === "}") open.pop();
    else if (token === ":") {
      const key = unescaped(before);
      const keys = open.at(-1);
      if (keys?.has(key)) repeated ??= key;
      keys?.add(key);
    }
    before = token;
  }
  return { depth, repeated };
}

/** A key as the parser will read it, however it is escaped; the parser rejects invalid JSON. */
function unescaped(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/** The parser rejects `__proto__` and similar keys, and names the one that it found. */
const Forbidden = z.object({ message: z.literal("Forbidden key in JSON body"), cause: z.object({ data: z.string() }) });
function forbiddenKey(error: unknown): string | undefined {
  const forbidden = Forbidden.safeParse(error);
  return forbidden.success ? forbidden.data.cause.data : undefined;
}

/** Returns where an object has a key, as the names on the way to it. */
function pathTo(key: string, value: unknown): string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, key)) return [key];
  for (const [name, inner] of Object.entries(value)) {
    const path = pathTo(key, inner);
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}
