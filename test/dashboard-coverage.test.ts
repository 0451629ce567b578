// The dashboard calls every endpoint, and its code names every field of requests and responses, except for those listed here:
// whoever adds one decides whether people see it.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { ROOT } from "../infra/built.ts";
import { api } from "../shared/api/index.ts";
import { everyRoute, fieldsOf } from "./harness/requests.ts";

/** Only programs need them. */
const UNCALLED: readonly string[] = [
  "code.push",
  "openapi.get",
  "sandbox.getData",
  "sandbox.putData",
  "sandbox.putDns",
  "sandbox.putRepository",
  "sshKeys.get",
  "tokens.get",
  "webhooks.getDelivery",
];

/** Fields whose group of endpoints the dashboard calls, and which it does not use. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  servers: ["updated_at"],
  code: ["updated_at"],
  deploys: ["completed_at"],
  backups: ["listed_files", "retained_by"],
  uploads: ["listed_files", "retained_by"],
  operations: ["started_at"],
  bulk: ["stop_after_failures"],
  settings: ["contact_email_unicode", "updated_at"],
  sso: ["updated_at"],
  tokens: ["replaces"],
  webhooks: ["updated_at", "event_id", "next_try_at"],
  // Passkeys' options go to the browser as they are.
  auth: ["allowCredentials", "requested", "rpId", "second_factor_at", "userVerification"],
  secondFactors: ["authenticatorSelection", "challenge", "excludeCredentials", "pubKeyCredParams", "rp"],
  health: ["commit"],
};

/** The folders of `dashboard/src` that have a group's fields, where they are called otherwise than the group in kebab case. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  servers: ["servers", "metrics"],
  instances: ["instances", "allowed", "metrics"],
  backupPolicy: ["policies"],
  deploys: ["code"],
  uploads: ["uploads", "backups"],
  catalog: ["servers", "instances"],
  alertSettings: ["alerts"],
  sso: ["settings"],
  users: ["people"],
  invitations: ["people"],
  auth: ["login", "session", "settings", "shell"],
  secondFactors: ["settings"],
  overview: ["home"],
  search: ["shell"],
};

/** They are the same for many groups. */
const COMMON = ["app", "resource"];

/** An attribute of a component has its own name. */
const NAME = /\b\w+\b(?!=["{])/g;
const COMMENT = /\/\*.*?\*\/|^\s*\/\/.*?$| \/\/ .*?$/gms;

const readSources = (folders: readonly string[]): string[] =>
  globSync(
    folders.map((folder) => `dashboard/src/${folder}/**/*.{ts,tsx}`),
    { cwd: ROOT },
  ).map((file) => readFileSync(join(ROOT, file), "utf8").replaceAll(COMMENT, ""));

const namesIn = (sources: readonly string[]): Set<string> => new Set(sources.join("\n").match(NAME));

const callOf = ({ id }: { id: string }): RegExp => new RegExp(`\\b${id.replace(".", String.raw`\s*\.`)}\\b`);
const allSources = readSources([""]);
const callersOf = (route: { id: string }): string[] => allSources.filter((source) => callOf(route).test(source));
const isCalled = (route: { id: string }): boolean => callersOf(route).length > 0;
const called = everyRoute.filter(isCalled);

test("the dashboard calls every endpoint, or UNCALLED says that only programs need it", () => {
  expect(
    everyRoute
      .filter((route) => !isCalled(route))
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(UNCALLED);
});

const groups = [...Map.groupBy(called, ({ id }) => id.split(".")[0] ?? "")];

test.each(groups)("the dashboard uses every field of %s, or UNUSED says which not", (group, routes) => {
  const folders = FOLDERS[group] ?? [group.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)];
  const names = namesIn(readSources([...folders, ...COMMON]));
  const fields = routes.flatMap(({ body, data }) => [
    ...fieldsOf(body).fields.map(([name]) => name),
    ...(data === api.operations.get.data && group !== "operations" ? [] : fieldsShownOf(data)),
  ]);
  const unused = [...new Set(fields)].filter((name) => !names.has(name));
  expect(unused.toSorted(), `in dashboard/src/${folders.join(", ")}`).toEqual([...(UNUSED[group] ?? [])].toSorted());
});

const updates = called.filter(({ method }) => method === "PUT").map((route) => ({ ...route, names: namesIn(callersOf(route)) }));

test.each(updates)("what calls $id in the dashboard sends every field of its body", ({ body, names }) => {
  expect(
    fieldsOf(body)
      .fields.map(([name]) => name)
      .filter((name) => !names.has(name)),
  ).toEqual([]);
});

const Properties = z.looseObject({ properties: z.record(z.string(), z.unknown()).default({}) });
const Described = Properties.extend({ $ref: z.string().optional(), $defs: z.record(z.string(), Properties).default({}) });

/** The fields of a response, at the top. */
function fieldsShownOf(schema: z.ZodType): string[] {
  const { $ref, $defs, properties } = Described.parse(z.toJSONSchema(schema, { unrepresentable: "any" }));
  return Object.keys($ref === undefined ? properties : ($defs[$ref.split("/").at(-1) ?? ""]?.properties ?? {}));
}
