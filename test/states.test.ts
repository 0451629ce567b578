// One file, shared/domain/lifecycle.ts, names the states of servers, instances, backups and operations.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  BACKUP_STATUSES,
  INSTANCE_STATUSES,
  OPERATION_STATUSES,
  SERVER_PHASES,
  SERVER_STATUSES,
} from "../shared/domain/lifecycle.ts";

const STATES = [
  ...SERVER_STATUSES,
  ...Object.keys(SERVER_PHASES),
  ...INSTANCE_STATUSES,
  ...BACKUP_STATUSES,
  ...OPERATION_STATUSES,
];

/** Other vocabularies: those of a provider's machine, of a job on a machine, and of the ERP that the sandbox simulates. */
const OTHERS = /^shared\/(?:providers\/|hosts\/(?:sandbox|ssh)|data\/sandbox\.ts)/;
/** The API description shows states in its examples. */
const EXAMPLES = /^shared\/api\//;

const literalsIn = (folders: string, pattern: (states: string) => RegExp, except: readonly RegExp[]): string[] =>
  globSync(`${folders}/**/*.{ts,tsx}`)
    .filter((file) => file !== "shared/domain/lifecycle.ts" && !except.some((each) => each.test(file)))
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line, index) => (pattern(STATES.join("|")).test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
    );

test("product code contains no literal status outside lifecycle.ts", () => {
  expect(literalsIn("{shared,functions}", (states) => new RegExp(`"(?:${states})"`), [OTHERS, EXAMPLES])).toEqual([]);
});

test("nothing compares with a literal status", () => {
  expect(literalsIn("{shared,functions}", (states) => new RegExp(`[!=]==\\s*"(?:${states})"`), [OTHERS])).toEqual([]);
});
