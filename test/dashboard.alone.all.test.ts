// What the dashboard computes and says, in English and in German, without a browser.
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { ROOT } from "../infra/built.ts";

const Callable = z.custom<(...values: unknown[]) => unknown>((value) => typeof value === "function");
const importOf = async (file: string): Promise<object> => import(join(ROOT, "dashboard/src", file));
/** Its files are not the tests' to compile: some of the messages have elements in them. */
const load = async (file: string, name: string) =>
  z
    .record(z.string(), z.unknown())
    .transform((exported) => Callable.parse(exported[name]))
    .parse({ ...(await importOf(file)) });

// The design system's styles are not Node's to load.
vi.mock("@cloudscape-design/components/icon", () => ({ default: "icon" }));

beforeEach(() => vi.resetModules());

async function speak(language: "en" | "de", ...areas: string[]): Promise<void> {
  vi.stubGlobal("localStorage", { getItem: () => language });
  await (
    await load("messages/text.ts", "loadText")
  )();
  await (
    await load("messages/text.ts", "loadAreas")
  )(...areas);
}

const columns = ["a", "b"].map((name) => ({
  header: name,
  text: (item: unknown) => String(z.record(z.string(), z.unknown()).parse(item)[name]),
}));

test("a file of a list has no formula either where a spreadsheet splits its cells at another character", async () => {
  await speak("en");
  const toCsv = await load("resource/list/csv.ts", "toCsv");
  const lines = (item: object) =>
    String(toCsv(columns, [item]))
      .split("\r\n")
      .slice(1, -1);
  expect(lines({ a: "Shop;=1+1", b: "\t@SUM(A1)" })).toEqual([`"Shop;'=1+1","\t'@SUM(A1)"`]);
  expect(lines({ a: "x\n=1", b: "Shop, -2" })).toEqual([`"x\n'=1","Shop, '-2"`]);
  expect(lines({ a: "=1", b: "a-b = c@d" })).toEqual(["'=1,a-b = c@d"]);
  expect(lines({ a: "Shop", b: 'x;"=1+1;' })).toEqual([`Shop,"x;""'=1+1;"`]);
});

test("a German file separates by semicolons, as Excel does there", async () => {
  await speak("de");
  const toCsv = await load("resource/list/csv.ts", "toCsv");
  expect(toCsv(columns, [{ a: "1,5", b: "x;y" }])).toBe('\uFEFFa;b\r\n"1,5";"x;y"\r\n');
});

test("a selection stays for as long as the address has the same filters, whatever the time is", async () => {
  const key = await load("resource/list/use-selection.ts", "selectionKey");
  const of = key({ page: 1, older: "7" }, { server_id: "srv_1" });
  expect(key({ page: 3, older: "7", sort: "name" }, { server_id: "srv_1" })).toBe(of);
  expect(key({ page: 1, older: "1" }, { server_id: "srv_1" })).not.toBe(of);
  expect(key({ page: 1, older: "7" }, { server_id: "srv_2" })).not.toBe(of);
});

test("only what is known as it is now is left out of a bulk action", async () => {
  const candidates = await load("bulk/candidate.ts", "candidates");
  const selected = ["ins_1", "ins_2"].map((id) => ({ id, labels: { env: "test" } }));
  const words = { nameOf: ({ id }: { id: string }) => id, whyNot: () => "It is stopped already." };
  expect(candidates(selected, new Map(selected.slice(1).map((item) => [item.id, item])), words)).toEqual([
    { id: "ins_1", name: "ins_1", labels: undefined, exclusionReason: undefined },
    { id: "ins_2", name: "ins_2", labels: { env: "test" }, exclusionReason: "It is stopped already." },
  ]);
});

const POLICY = { schedule: "30 2 * * *", timezone: "Europe/Berlin", keep: { last: 1, daily: 7 }, drill_every_days: null };

test("what a bulk action does is said in words, and what only a newer service knows as it is", async () => {
  await speak("en", "bulk", "policies");
  const words = await load("events/bulk-parameters.ts", "parametersInWords");
  expect(words({ add: { env: "production", vip: "" }, remove: ["team", "owner"] })).toEqual([
    "Adds the labels env: production, vip",
    "Removes the labels team, owner",
  ]);
  expect(words({ add: { env: "test" }, remove: [] })).toEqual(["Adds the labels env: test"]);
  expect(words({ ...POLICY, enabled: false })).toEqual([
    "Every day at 02:30 (Europe/Berlin)",
    "Keeps: The newest backup, and the newest of each of the last 7 days",
    "Restore drills: None",
    "Disabled",
  ]);
  expect(words({ modules: ["sale", "acme"], rehearse: false, backup_first: true, update_image: true, note: "Prices" })).toEqual([
    "Updates the modules sale, acme",
    "Without a rehearsal",
    "Backs up first",
    "Updates the image, too",
    "Note: Prices",
  ]);
  expect(words({ with_backups: true })).toEqual(["Deletes their backups, too"]);
  expect(words({ colour: "red" })).toEqual(['colour: "red"']);
  expect(words({})).toEqual([]);
});

test("and in German", async () => {
  await speak("de", "bulk", "policies");
  const words = await load("events/bulk-parameters.ts", "parametersInWords");
  expect(words({ remove: ["env"], modules: "all", with_backups: false })).toEqual([
    "Entfernt die Labels env",
    "Aktualisiert alle Module des Codes",
    "Behält ihre Sicherungen",
  ]);
});

test.each([
  ["Shop neustarten", "restart", "Shop"],
  ["restart Shop", "restart", "Shop"],
  ["Backup Shop", "back-up", "Shop"],
  ["Sicherung  von Shop Nord", "back-up", "Shop Nord"],
  ["Shop Sicherung", "back-up", "Shop"],
  ["policy Shop", "policy", "Shop"],
  ["Sicherungsplan von Shop", "policy", "Shop"],
  ["restore Shop", "restore", "Shop"],
  ["Shop loeschen", "delete", "Shop"],
  ["LÖSCHEN Shop", "delete", "Shop"],
  ["lo\u0308schen Shop", "delete", "Shop"],
  ["löschen", "delete", ""],
])("%s, typed in German, is %s of what is left", async (typed, act, rest) => {
  await speak("de");
  expect((await load("shell/acts.ts", "actIn"))(typed)).toEqual({ act, rest });
});

test("an instance that is called what was typed comes before the action that it could be, too", async () => {
  await speak("en");
  const mergeFound = await load("shell/acts.ts", "mergeFound");
  const [restoreShop, shop] = ["Réstore Shop", "Shop"].map((name) => ({ type: "instance", id: `ins_${name}`, name }));
  expect(mergeFound("restore shop", [restoreShop], [shop, restoreShop])).toEqual({ matches: [restoreShop, shop], isNamed: true });
  expect(mergeFound("restore shop", [], [shop])).toEqual({ matches: [shop], isNamed: false });
});

test("a failed backup has the cross, a failed drill the exclamation mark", async () => {
  const sign = await load("backups/sign.tsx", "Sign");
  expect(JSON.stringify(sign({ of: "failed" }))).toContain('"name":"close"');
  expect(sign({ of: "drillFailed" })).toMatchObject({ props: { children: "!" } });
});
