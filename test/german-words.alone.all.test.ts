// What the dashboard says of the API's sentences in German, without a browser.
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { ROOT } from "../infra/built.ts";

const Callable = z.custom<(sentence?: string) => unknown>((value) => typeof value === "function");
/** Its files are not the tests' to compile: some of the messages have elements in them. */
const load = async (file: string, name: string) =>
  z
    .record(z.string(), z.unknown())
    .transform((exported) => Callable.parse(exported[name]))
    .parse({ ...(await importOf(file)) });
const importOf = async (file: string): Promise<object> => import(join(ROOT, "dashboard/src", file));

let recognized: (sentence?: string) => unknown;
beforeAll(async () => {
  vi.stubGlobal("localStorage", { getItem: () => "de" });
  await (
    await load("messages/text.ts", "loadText")
  )();
  recognized = await load("app/recognized.ts", "recognized");
});

test.each([
  ["The account may have at most 10 servers; contact the operator to raise the limit", "höchstens 10 davon haben (Server)"],
  ["The server is being created, so it cannot be changed", "(wird erstellt)"],
  ["The backup is deleting; only a completed backup can be used", "(Status: wird gelöscht)"],
  ["The action restore is not allowed while the instance is stopped", "Wiederherstellen ist in diesem Status"],
  ["This database name is already taken", "(Datenbankname)"],
  ["No such backup policy", "Sicherungsplan"],
  ["The account's backups and uploads may have at most 2 TB; delete some, or contact the operator to raise the limit", "2 TB"],
  ["The instance is defrosting, so it cannot be changed", "defrosting"],
])("%s: its words are German, too", (sentence, part) => {
  const german = recognized(sentence);
  expect(german).not.toBe(sentence);
  expect(german).toContain(part);
});
