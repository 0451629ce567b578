// What logs must not show, whoever wrote it there: known secrets exactly, others by what they look like. The machine removes the
// same with `sed` before a log leaves it (shared/hosts/script/logs.sh); here a machine that did not is made up for.
import { SECRET_CHARACTERS_MIN } from "./code-rules.ts";

const REDACTED = "[redacted]";
/** What the machine ends a line with that it cut. */
const CUT = "…";

/** Names whose values are secret, with what may surround them: `"api_key": "…"`, `--password=…`, `csrf_token%3D…`. */
const NAMES = "passw(?:or)?d|passphrase|secret|token|api[_-]?key|private[_-]?key|session[_-]?id";
const BETWEEN = String.raw`[A-Za-z0-9_-]{0,40}\\?["']?\s{0,8}(?:=|:|%3[AaDd])\s{0,8}`;
const VALUE = String.raw`(?:\\"[^"]*(?:"|$)|"(?:[^"\\]|\\.)*(?:"|$)|\\?'[^']*(?:'|$)|[^\s"'&;,)}\]<>]+)`;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // This pattern goes to the end of the line: a scheme, and parameters of any form, follow.
  [/((?:proxy-)?authorization|(?:set-)?cookie)(\\?["']?\s{0,8}(?:=|:)).*/gi, `$1$2 ${REDACTED}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [new RegExp(`((?:${NAMES})${BETWEEN})(?!\\[redacted\\])${VALUE}`, "gi"), `$1${REDACTED}`],
  [/\b(sid=)[^\s;&]+/gi, `$1${REDACTED}`],
  [/(token\s+)[A-Za-z0-9._~+/=-]{16,}/gi, `$1${REDACTED}`],
  // The user of a URL.
  [/(:\/\/)[^\s/@]{1,300}@/g, `$1${REDACTED}@`],
  // A segment of a path that is as long as a token, or has dots and such a part, as JSON Web Tokens have.
  [/(\/)(?:[A-Za-z0-9_~+=-]*\.)*[A-Za-z0-9_~+=-]{32,}(?:\.[A-Za-z0-9_~+=-]*)*/g, `$1${REDACTED}`],
];

/** Everything after the path of a signed URL. */
const SIGNED = /(https?:\/\/[^\s?]{1,4000}\?)\S+/g;

/** Redacts as `redact` does, and also the addresses that a job was given, which are as good as a password. */
export const redactWork = (text: string, secrets: readonly string[] = []): string =>
  redact(text, secrets).replaceAll(SIGNED, `$1${REDACTED}`);

/** A text of one line or several, without the secrets and without what looks like one. */
export function redact(text: string, secrets: readonly string[] = []): string {
  // The longest first, because another one may be a part of it.
  const values = secrets
    .filter((secret) => secret.length >= SECRET_CHARACTERS_MIN)
    .toSorted((one, other) => other.length - one.length);
  const uncut = text
    .split("\n")
    .map((line) => withoutRemains(line, values))
    .join("\n");
  const without = values.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), uncut);
  // Lines come first: a quote that does not end would otherwise end where the next line's begins, and show what is behind it.
  return withoutForms(without.split("\n").map(withoutForms).join("\n"));
}

/** Removes what a secret begins with from the end of a line that was cut: the cut may be within the secret. */
function withoutRemains(line: string, secrets: readonly string[]): string {
  if (!line.endsWith(CUT)) return line;
  const text = line.slice(0, -CUT.length);
  const starts = secrets.map((secret) => findRemains(text, secret)).filter((at) => at !== -1);
  return starts.length === 0 ? line : `${text.slice(0, Math.min(...starts))}${REDACTED}${CUT}`;
}

/** Returns where the beginning of a secret starts that a text ends with; -1 if there is none. */
function findRemains(text: string, secret: string): number {
  const start = secret.slice(0, SECRET_CHARACTERS_MIN);
  let at = text.indexOf(start, Math.max(0, text.length - secret.length));
  while (at !== -1 && !secret.startsWith(text.slice(at))) at = text.indexOf(start, at + 1);
  return at;
}

const withoutForms = (text: string): string =>
  PATTERNS.reduce((rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement), text);
