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

/** A line as the machine writes it: method, path, status (0 if the client left), milliseconds, bytes, client. */
const OF_PROXY = /^(\S{1,20}) (\S*) (\d{1,3}) (\d{1,12}) (\d{1,20}) (\S{0,50})$/;

/** A line as the machine sends it. */
interface Row {
  at: string;
  written: string;
}

/** The lines that have the time at which Docker got them. */
export const timedLines = (text: string): Row[] =>
  text.split("\n").flatMap((line) => {
    const [, second = "", fraction = "", written = ""] = TIMED.exec(line) ?? [];
    const at = `${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
    return second === "" || Number.isNaN(Date.parse(at)) ? [] : [{ at, written }];
  });

/** Whether the log has more before these lines: the machine says so in a line without a time, which nobody else can write. */
export const isCut = (text: string): boolean => text.trimEnd().endsWith("\ncut");

/** What people see of some rows, and with how many of them a message ends. */
export interface Message {
  line: LogLine;
  end: number;
}

export const parseLog = (source: LogSource, text: string, secrets: readonly string[] = []): LogLine[] =>
  parseRows(source, timedLines(text), secrets).map(({ line }) => line);

export const parseErpLog = (text: string, secrets: readonly string[] = []): LogLine[] => parseLog("erp", text, secrets);

export function parseRows(source: LogSource, rows: readonly Row[], secrets: readonly string[]): Message[] {
  if (source === "proxy") return parseProxyLog(rows, secrets);
  const entries = source === "database" ? databaseEntries(rows) : erpEntries(rows);
  return entries.map((entry) => ({ line: toLine(entry, secrets), end: entry.end }));
}

/** The requests that a proxy has logged: those that failed at the ERP's end are errors, those at the client's warnings. */
function parseProxyLog(rows: readonly Row[], secrets: readonly string[]): Message[] {
  return rows.flatMap(({ at, written }, index): Message[] => {
    const [, method = "", path = "", status = "", ms = "", bytes = "", client = ""] = OF_PROXY.exec(written) ?? [];
    if (method === "") return [];
    const level = Number(status) >= 500 ? "error" : Number(status) >= 400 ? "warning" : "info";
    const message = `${method} ${redact(path, secrets).replaceAll(" ", "")} ${status}, ${ms} ms, ${bytes} bytes, ${client}`;
    return [{ line: { at, level, logger: null, message: readable(message) }, end: index + 1 }];
  });
}

interface Entry {
  at: string;
  level: LogLevel | null;
  logger: string | null;
  lines: string[];
  /** How many rows it ends with. */
  end: number;
  /** Whether the line after it belongs to it. */
  continues: boolean;
}

/** The messages of a database's log: details, hints and the statement belong to the message before them. */
function databaseEntries(rows: readonly Row[]): Entry[] {
  const entries: Entry[] = [];
  for (const [index, { at, written }] of rows.entries()) {
    const [, word = "", message = ""] = OF_DATABASE.exec(written) ?? [];
    const level = DATABASE_LEVELS[word];
    const last = entries.at(-1);
    const end = index + 1;
    if (level !== undefined) entries.push({ at, level, logger: null, lines: [message], end, continues: true });
    else if (last?.continues) addLine(last, word === "" ? written : `${word}: ${message}`);
    else entries.push({ at, level: null, logger: null, lines: [written], end, continues: false });
  }
  return entries;
}

function addLine(entry: Entry, line: string): void {
  entry.lines.push(line);
  entry.end++;
}

/** The messages of an ERP's log. Without a form of their own, lines belong to the message before them. */
function erpEntries(rows: readonly Row[]): Entry[] {
  const entries: Entry[] = [];
  for (const [index, { at, written }] of rows.entries()) {
    const match = OF_ERP.exec(written);
    const last = entries.at(-1);
    const end = index + 1;
    if (match !== null) {
      const [, level = "", logger = "", message = ""] = match;
      entries.push({ at, level: LEVELS[level] ?? null, logger, lines: [message], end, continues: true });
    } else if (last?.continues) {
      addLine(last, written);
      if (last.level === null) last.continues = /^\s/.test(written); // the line that names the exception is its last one
    } else {
      entries.push({ at, level: null, logger: null, lines: [written], end, continues: written.startsWith("Traceback (") });
    }
  }
  return entries;
}

const toLine = ({ at, level, logger, lines }: Entry, secrets: readonly string[]): LogLine => ({
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

/** Keeps the last lines of a long traceback, which say the most. */
const shortened = (message: string): string =>
  message.length <= MESSAGE_CHARACTERS
    ? message
    : `${message.slice(0, MESSAGE_CHARACTERS / 2)}\n…\n${message.slice(-MESSAGE_CHARACTERS / 2)}`;

const TAB = 0x09;
const LINE_BREAK = 0x0a;
/** What no reader sees, and what changes the direction of text. */
const HIDDEN =
  /[\u034f\u00ad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/** Returns a text with escapes for control characters, but for tabs and line breaks. */
export const readable = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e\u00a0-\u00ac\u00ae-\u034e\u0350-\u0600]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code === TAB || code === LINE_BREAK) return character;
    const digits = code.toString(16);
    if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
    if (!HIDDEN.test(character)) return character;
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, "0")}`;
  });

/** What the jobs of an operation have logged, in whole lines: of very much the end. */
export interface WorkLog {
  text: string;
  /** How many there are, those that are left out among them. */
  lines: number;
}

/** The same as people see it, behind how many lines are left out. */
export function readableWork({ text, lines }: WorkLog, secrets: readonly string[]): string {
  const readableText = readable(redactWork(text, secrets));
  const room = WORK_LOG.bytesMax - encoder.encode(leftOut(lines)).length;
  const end = lastWholeLines(readableText, room); // escapes are longer than what they stand for
  const before = lines - countLines(text) + countLines(readableText) - countLines(end);
  return before > 0 ? leftOut(before) + end : end;
}

const countLines = (text: string): number => text.split("\n").length - 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function lastWholeLines(text: string, bytesMax: number): string {
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
