// Parses text that may not be JSON.

/** What a text says as JSON; undefined if it is none. The parser's own error would quote the text, which may be a secret. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
