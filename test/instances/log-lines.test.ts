// What people see of the logs of a database and of a proxy, and how a log that grows is followed.
import { expect, test } from "vitest";
import type { LogLine } from "../../shared/domain/log-levels.ts";
import { firstLines, parseLog, readableWork } from "../../shared/domain/log-lines.ts";
import { linesBehind, positionAfter, readPosition, workBehind } from "../../shared/domain/log-positions.ts";

const AT = "2026-11-26T19:00:00.123456789Z";
const OWN = "2026-11-26 19:00:00.123 UTC [42]";
const parseLines = (source: "database" | "proxy", text: string, secrets: readonly string[] = []) =>
  parseLog(source, text, secrets).map(({ level, message }) => [level, message]);

test("of a database's log, details and the statement belong to their message, and nothing that a statement says is one", () => {
  const text = [
    `${AT} ${OWN} ERROR:  relation "x" does not exist at character 15`,
    `${AT} ${OWN} STATEMENT:  select *`,
    `${AT} \t${OWN} FATAL:  forged`,
    `${AT} \tfrom x where password='SECRETSECRET'`,
    `${AT} ${OWN} LOG:  checkpoint starting: time`,
    `${AT} ${OWN} FATAL:  the database system is shutting down`,
    `${AT} ${OWN} NOTICE:  \u202eodd\x1b[31m`,
    "no time in front",
  ];
  expect(parseLines("database", text.join("\n"))).toEqual([
    [
      "error",
      `relation "x" does not exist at character 15\nSTATEMENT: select *\n\t${OWN} FATAL:  forged\n\tfrom x where password=[redacted]`,
    ],
    ["info", "checkpoint starting: time"],
    ["critical", "the database system is shutting down"],
    ["info", "\\u202eodd\\x1b[31m"],
  ]);
});

test("a proxy's log has a message for each request, errors by their status, and no secrets in paths", () => {
  const line = (request: string): string => `2026-11-26T19:00:00.123Z ${request}`;
  const token = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
  const text = [
    line("GET /web/login 200 47 6312 203.0.113.7"),
    line(`GET /my/invoice/${token}/pdf 404 3 12 203.0.113.7`),
    line("POST /web 502 30000 0 2001:db8::1"),
    line("GET /a b 200 1 1 203.0.113.7"),
    line("GET /<script> 200 1 1 203.0.113.7"),
    "2026-99-26T19:00:00.123Z GET / 200 1 1 203.0.113.7",
    "GET / 200 1 1 x",
  ];
  expect(parseLines("proxy", text.join("\n"))).toEqual([
    ["info", "GET /web/login 200, 47 ms, 6312 bytes, 203.0.113.7"],
    ["warning", "GET /my/invoice/[redacted]/pdf 404, 3 ms, 12 bytes, 203.0.113.7"],
    ["error", "POST /web 502, 30000 ms, 0 bytes, 2001:db8::1"],
    ["info", "GET /<script> 200, 1 ms, 1 bytes, 203.0.113.7"],
  ]);
});

test("no path hides its request: what looks like a secret in it ends with it", () => {
  const paths = ["/a/token=", "/x;cookie=1", `/${"/token=a".repeat(490)}`, "/authorization:", "/bearer", "", "/sid="];
  const lines = paths.map((path) => parseLines("proxy", `2026-11-26T19:00:00.123Z GET ${path} 200 3 5 ::1`)[0]?.[1]);
  for (const [index, line] of lines.entries()) expect(line, paths[index]).toMatch(/^GET \S* 200, 3 ms, 5 bytes, ::1$/);
  expect(lines[1]).toBe("GET /x;cookie=[redacted] 200, 3 ms, 5 bytes, ::1");
  expect(parseLines("proxy", "2026-11-26T19:00:00.123Z GET /left 0 3 0 ::1")).toEqual([
    ["info", "GET /left 0, 3 ms, 0 bytes, ::1"], // the client did not wait
  ]);
});

const at = (ms: number, message: string): LogLine => ({
  at: new Date(1_790_000_000_000 + ms).toISOString(),
  level: null,
  logger: null,
  message,
});

test("a log that is followed has each message once, however many have the same time, and however they arrive", () => {
  const log = [0, 5, 5, 5, 7, 9, 9, 12].map((ms, index) => at(ms, String(index)));
  for (let first = 1; first <= log.length; first++)
    for (let second = first; second <= log.length; second++) {
      const begin = positionAfter(log.slice(0, first), { at: "", seenCount: 0 });
      const read: string[] = [];
      let next = begin;
      for (const end of [first, second, log.length]) {
        const position = readPosition(next);
        const since = log.slice(0, end).filter((line) => line.at >= position.at); // as the machine reads it
        const { lines, isGap } = linesBehind(since, position);
        expect(isGap).toBe(false);
        read.push(...lines.map(({ message }) => message));
        next = positionAfter(since, position);
      }
      expect(read).toEqual(log.slice(first).map(({ message }) => message));
    }
});

test("what is gone in between is noticed, and what does not fit comes later", () => {
  const log = [at(0, "a"), at(3, "b"), at(3, "c")];
  const position = readPosition(positionAfter(log.slice(0, 1), { at: "", seenCount: 0 }));
  expect(linesBehind(log.slice(1), position)).toMatchObject({ isGap: true, lines: log.slice(1) });
  expect(positionAfter([], position)).toBe(`${position.at}.${position.seenCount}`);
  expect(firstLines(log, 2, 1000)).toEqual(log.slice(0, 2));
  expect(firstLines(log, 9, 200)).toEqual(log.slice(0, 2));
  expect(firstLines(log, 9, 1000)).toEqual(log);
});

test("what was redacted is not redacted again, and a quote that does not end hides nothing but its own line", () => {
  const messages = ["password=[redacted] done", "password='SECRETSECRET and more", "x password='SECRETSECRET and more", "last"];
  const text = messages.map((message) => `2026-11-26T19:00:00.000Z ${message}\n`).join("");
  const shownOnes = parseLog("erp", text).map(({ message }) => message);
  expect(shownOnes).toEqual(["password=[redacted] done", "password=[redacted]", "x password=[redacted]", "last"]);
  const [joined] = parseLog("erp", `2026-11-26T19:00:00.000Z 2026-11-26 19:00:00,123 7 INFO shop x: a\n${text}`);
  expect(joined?.message).toBe(["a", ...shownOnes].join("\n"));
});

test("what nobody sees is shown as an escape, and what people write is as it was", () => {
  const text = `${AT} a\u00adb\u034fc\u{e0041}d\u3164 é Ω 🙂 ⚠\ufe0f`;
  expect(parseLog("erp", text)[0]?.message).toBe("a\\xadb\\u034fc\\u{e0041}d\\u3164 é Ω 🙂 ⚠\ufe0f");
});

test("of a secret that another one begins with, nothing is left", () => {
  const secrets = ["abcdef", "abcdefXYZ", "abcde"];
  for (const all of [secrets, secrets.toReversed()])
    expect(parseLines("proxy", "2026-11-26T19:00:00.000Z GET /abcdefXYZ/abcdef/abcde 200 1 1 ::1", all)).toEqual([
      ["info", "GET /[redacted]/[redacted]/abcde 200, 1 ms, 1 bytes, ::1"],
    ]);
});

test("of an operation's log whose escapes are longer than a megabyte, the last whole lines are shown, and it is followed by lines", () => {
  const [line, last] = ["\u0001é".repeat(100), "last"];
  const sent = { text: `${`${line}\n`.repeat(5_000)}${last}\n`, lines: 6_001 }; // the machine has left out a thousand
  const text = readableWork(sent, []);
  const bytes = Buffer.byteLength(text);
  expect(bytes).toBeLessThanOrEqual(1_000_000);
  expect(bytes).toBeGreaterThan(999_000);
  const [head = "", ...shownLines] = text.split("\n");
  expect(new Set(shownLines)).toEqual(new Set(["\\x01é".repeat(100), last, ""]));
  expect(head).toBe(`… ${6_001 - shownLines.length + 1} earlier lines`);
  expect(workBehind(text, 0)).toEqual({ text, next: "6001" });
  expect(workBehind(text, 6_000)).toEqual({ text: `${last}\n`, next: "6001" });
  expect(workBehind(text, 10).text).toBe(text.slice(head.length + 1)); // what was not seen and is gone
  expect(workBehind(text, 6_001)).toEqual({ text: "", next: "6001" });
  expect(workBehind("", 0)).toEqual({ text: "", next: "0" });
  expect(workBehind("# a\none\n", 1)).toEqual({ text: "one\n", next: "2" });
});
