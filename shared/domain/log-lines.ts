// A log as a machine sends it, and what people see of it: an entry for each message, with the lines that belong to it. Tenants
// write all of it, so it is text and nothing else: what a terminal or a reader could take for more is shown as an escape.
import type { LogLevel, LogLine, LogSource } from "./log-levels.ts";
import { WORK_LOG } from "./limits.ts";
import { leftOut } from "./log-positions.ts";
import { redact, redactWork } from "./redaction.ts";

/** Each line has the time in front that Docker got it, in UTC. */
const TIMED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z (.*)$/s;

/** The ERP's format: `2026-11-26 19:00:00,123 7 INFO shop odoo.modules.loading: 42 modules loaded`. */
const OF_ERP =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \d{1,10} (DEBUG|INFO|RUNBOT|WARNING|ERROR|CRITICAL) \S{1,100} ([^\s:]{1,200}): ?(.*)$/s;

const LEVELS: Readonly<Record<string, LogLevel>> = {
  DEBUG: "debug",
  INFO: "info",
  RUNBOT: "info",
  WARNING: "warning",
  ERROR: "error",
  CRITICAL: "critical",
};

/** The database's format: `2026-11-26 19:00:00.123 UTC [42] ERROR:  relation "x" does not exist at character 15`. */
const OF_DATABASE =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \S{1,40} \[\d{1,10}\] (DEBUG|INFO|NOTICE|LOG|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|CONTEXT|QUERY|STATEMENT|LOCATION): {1,2}(.*)$/s;
const DATABASE_LEVELS: Readonly<Record<string, LogLevel>> = {
  DEBUG: "debug",
  INFO: "info",
  NOTICE: "info",
  LOG: "info",
  WARNING: "warning",
  ERROR: "error",
  FATAL: "critical",
  PANIC: "critical",
};

/** As the machine writes it: time, method, path, status, milliseconds, bytes, client. */
const OF_PROXY = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S{1,20}) (\S{0,4000}) (\d{3}) (\d{1,12}) (\d{1,20}) (\S{0,50})$/;

export const parseLog = (source: LogSource, text: string, secrets: readonly string[] = []): LogLine[] => {
  if (source === "proxy") return parseProxyLog(text, secrets);
  return source === "database" ? parseDatabaseLog(text, secrets) : parseErpLog(text, secrets);
};

/** The requests that a proxy has logged: those that failed at the ERP's end are errors, those at the client's warnings. */
function parseProxyLog(text: string, secrets: readonly string[]): LogLine[] {
  return text.split("\n").flatMap((line): LogLine[] => {
    const [, at = "", method = "", path = "", status = "", ms = "", bytes = "", client = ""] = OF_PROXY.exec(line) ?? [];
    if (at === "" || Number.isNaN(Date.parse(at))) return [];
    const level = status >= "500" ? "error" : status >= "400" ? "warning" : "info";
    const message = `${method} ${redact(path, secrets)} ${status}, ${ms} ms, ${bytes} bytes, ${client}`;
    return [{ at, level, logger: null, message: readable(message) }];
  });
}

/** The messages of a database's log: details, hints and the statement belong to the message before them. */
function parseDatabaseLog(text: string, secrets: readonly string[]): LogLine[] {
  const entries: Entry[] = [];
  for (const { at, written } of timedLines(text)) {
    const [, word = "", message = ""] = OF_DATABASE.exec(written) ?? [];
    const level = DATABASE_LEVELS[word];
    const last = entries.at(-1);
    if (level !== undefined) entries.push({ at, level, logger: null, lines: [message], continues: true });
    else if (last?.continues) last.lines.push(word === "" ? written : `${word}: ${message}`);
    else entries.push({ at, level: null, logger: null, lines: [written], continues: false });
  }
  return entries.map((entry) => shown(entry, secrets));
}

/** The lines that have the time at which Docker got them. */
const timedLines = (text: string): { at: string; written: string }[] =>
  text.split("\n").flatMap((line) => {
    const [, second = "", fraction = "", written = ""] = TIMED.exec(line) ?? [];
    const at = `${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
    return second === "" || Number.isNaN(Date.parse(at)) ? [] : [{ at, written }];
  });

interface Entry {
  at: string;
  level: LogLevel | null;
  logger: string | null;
  lines: string[];
  /** Whether the line after it belongs to it. */
  continues: boolean;
}

/** The messages of an ERP's log. Without a form of their own, lines belong to the message before them. */
export function parseErpLog(text: string, secrets: readonly string[] = []): LogLine[] {
  const entries: Entry[] = [];
  for (const { at, written } of timedLines(text)) {
    const own = OF_ERP.exec(written);
    const last = entries.at(-1);
    if (own !== null) {
      const [, level = "", logger = "", message = ""] = own;
      entries.push({ at, level: LEVELS[level] ?? null, logger, lines: [message], continues: true });
    } else if (last?.continues) {
      last.lines.push(written);
      if (last.level === null) last.continues = /^\s/.test(written); // the line that names the exception is its last one
    } else {
      entries.push({ at, level: null, logger: null, lines: [written], continues: written.startsWith("Traceback (") });
    }
  }
  return entries.map((entry) => shown(entry, secrets));
}

const shown = ({ at, level, logger, lines }: Entry, secrets: readonly string[]): LogLine => ({
  at,
  level,
  logger: logger === null ? null : readable(redact(logger, secrets)),
  message: readable(shortened(redact(lines.join("\n"), secrets))),
});

/** The first of the lines, as many as fit. */
export function firstLines(lines: readonly LogLine[], count: number, bytesMax: number): LogLine[] {
  let bytes = 0;
  const end = lines.findIndex((line, index) => {
    bytes += encoder.encode(JSON.stringify(line)).length + 1;
    return index >= count || bytes > bytesMax;
  });
  return end === -1 ? [...lines] : lines.slice(0, end);
}

const MESSAGE_CHARACTERS = 50_000;

/** Of a long traceback, the last lines say the most. */
const shortened = (message: string): string =>
  message.length <= MESSAGE_CHARACTERS
    ? message
    : `${message.slice(0, MESSAGE_CHARACTERS / 2)}\n…\n${message.slice(-MESSAGE_CHARACTERS / 2)}`;

const TAB = 0x09;
const LINE_BREAK = 0x0a;
/** What no reader sees, and what changes the direction of text. */
const HIDDEN = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;

/** With escapes for control characters, but for tabs and line breaks. */
const readable = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e\u00a0-\u0600]/g, (character) => {
    const code = character.charCodeAt(0);
    if (code === TAB || code === LINE_BREAK) return character;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
    return HIDDEN.test(character) ? `\\u${code.toString(16).padStart(4, "0")}` : character;
  });

/** What the jobs of an operation have logged, in whole lines: of very much the end. */
export interface WorkLog {
  text: string;
  /** With those that are left out. */
  lines: number;
}

/** The same as people see it, behind how many lines are left out. */
export function readableWork({ text, lines }: WorkLog, secrets: readonly string[]): string {
  const whole = readable(redactWork(text, secrets));
  const room = WORK_LOG.bytesMax - encoder.encode(leftOut(lines)).length;
  const end = lastWholeLines(whole, room); // escapes are longer than what they stand for
  const before = lines - countLines(text) + countLines(whole) - countLines(end);
  return before > 0 ? leftOut(before) + end : end;
}

const countLines = (text: string): number => text.split("\n").length - 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function lastWholeLines(text: string, bytesMax: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= bytesMax) return text;
  const last = bytes.subarray(-bytesMax);
  return decoder.decode(last.subarray(last.indexOf(LINE_BREAK) + 1));
}

/** The last of the lines, as many as fit. */
export function lastLines(lines: readonly LogLine[], count: number, bytesMax: number): LogLine[] {
  let first = lines.length;
  let bytes = 0;
  while (first > 0 && lines.length - first < count) {
    bytes += encoder.encode(JSON.stringify(lines[first - 1])).length + 1;
    if (bytes > bytesMax) break;
    first--;
  }
  return lines.slice(first);
}
