// Which test files a change needs, and how likely it breaks them: from a source file to the functions that contain it, and from a
// function to the folder of its tests; and from a file to the tests that import it.
import { matchesGlob } from "node:path";
import { ENTRIES } from "../../infra/bundle.ts";

/** Files on the left always need the tests on the right, which name what was forgotten of a new endpoint, field or provider. */
const ALWAYS: readonly (readonly [files: string, tests: string])[] = [
  [
    "shared/api/**",
    "test/{golden,dashboard-coverage,events/changed-fields,figures/budget,releases,routes/{filters,own-tests,permissions}}.test.ts",
  ],
  ["shared/records/schemas/**", "test/releases.test.ts"],
  ["shared/domain/*", "test/{codes,events/changed-fields,sentences}.test.ts"],
  ["dashboard/src/messages/**", "test/messages.test.ts"],
  ["shared/providers/*", "test/providers/*.test.ts"],
  ["{shared/{providers/*,platform/configuration.ts},infra/local/operator.ts}", "test/local/operator.test.ts"],
];

/** What neither the bundles nor the imports show. Files that are on the left need the tests on the right. */
const BESIDES: readonly (readonly [files: string, tests: string])[] = [
  ["{README,CONTRIBUTING,CHANGELOG}.md", "test/words.test.ts"],
  ["docs/**/*.md", "test/words.test.ts"],
  ["README.md", "test/{readme,infra/{deploy,stack}}.test.ts"],
  ["{CHANGELOG.md,package.json}", "test/changelog.test.ts"],
  ["docs/{deploy,operations}.md", "test/infra/{alarms,deploy,stack}.test.ts"],
  ["docs/events.md", "test/golden.test.ts"],
  ["docs/guarantees.md", "test/guarantees.test.ts"],
  ["docs/api.md", "test/{golden,api/guide}.test.ts"],
  ["shared/api/**", "test/{api/{client,generated,linters},figures.alone,infra/bundle,lists,routes/queries}.*test.ts"],
  ["shared/hosts/script/**", "test/hosts/*.test.ts"],
  ["functions/schedules/check-servers.ts", "test/servers/{disk,figures,health,reports*}.*.ts"],
  ["functions/schedules/{deliver,dispatch}.ts", "test/webhooks/deliveries.*.ts"],
  ["functions/schedules/expire-backups.ts", "test/{uploads/uploads,backups/{quotas,import-again}}.*.ts"],
  ["functions/schedules/expire-history.ts", "test/{operations/history,sso/domains}.*.ts"],
  ["functions/schedules/refresh-catalog.ts", "test/{catalog/get,providers/{live,registry}}.*.ts"],
  ["functions/schedules/rescue.ts", "test/workflows/{rescue,starts}.*.ts"],
  ["functions/schedules/run-policies.ts", "test/{backup-policy/{runs,clock},code/pushes}.*.ts"],
  ["functions/schedules/send-mail.ts", "test/mail/*.ts"],
  ["functions/schedules/sweep.ts", "test/{workflows/starts,providers/byo}.*.ts"],
  ["functions/workflows/index.ts", "test/{infra/workflow,golden}.test.ts"],
  ["functions/workflows/{check-code-instance,deploy-instance}/*", "test/{code,deploys}/*.ts"],
  ["functions/workflows/drill-backup/*", "test/backups/drill*.ts"],
  ["functions/workflows/import-backup/*", "test/{backups/import*,uploads/*}.ts"],
  ["functions/workflows/restore-backup/*", "test/backups/restore*.ts"],
  ["functions/workflows/run-bulk/*", "test/bulk/*.ts"],
  ["infra/*.ts", "test/infra/*.test.ts"],
  ["infra/local/start.ts", "test/e2e/start.test.ts"],
  ["dashboard/src/**", "test/browser/pages.table.test.ts"],
  ["dashboard/src/bulk/*", "test/browser/bulk-*.test.ts"],
  ["dashboard/**", "test/infra/dashboard.test.ts"],
  ["{shared,functions,infra,dashboard}/**", "test/{imports,dialect}.test.ts"],
  ["**/*.test.ts", "test/rings.alone.test.ts"],
  ["{vitest.config.ts,test/run.ts}", "test/rings.alone.test.ts"],
];

/** So many functions say that a file is part of the foundations: each function's own tests then say little about it. */
const FEW = 4;

export interface Sources {
  /** All test files. */
  tests: readonly string[];
  /** Each source file's functions, by their IDs. */
  functions: ReadonlyMap<string, readonly string[]>;
  /** The files that import a file, among the test files and what they import. */
  importers: ReadonlyMap<string, readonly string[]>;
}

/** Test files, with how telling they are: 0 is most. */
export function neededTests(changed: readonly string[], sources: Sources): Map<string, number> {
  const ranks = new Map<string, number>();
  const add = (tests: readonly string[], rank: number): void => {
    for (const test of tests) ranks.set(test, Math.min(rank + (test.includes(".all.") ? 0.5 : 0), ranks.get(test) ?? Infinity));
  };
  for (const file of changed) {
    if (sources.tests.includes(file)) ranks.set(file, 0);
    add(listed(ALWAYS, file, sources), 0);
    add(listed(BESIDES, file, sources), 1);
    const functions = sources.functions.get(file) ?? [];
    add(
      functions.flatMap((id) => testsOfFunction(id, sources)),
      functions.length <= FEW ? 1 : 3,
    );
    const ownTests = namesakes(file, sources);
    add(ownTests, 1);
    // They name every field of a response.
    if (file.startsWith("shared/api/"))
      add(
        ownTests.filter((test) => test.endsWith("/create.test.ts")),
        0,
      );
    for (const [test, distance] of testsThatImport(file, sources)) add([test], Math.min(distance, 4));
  }
  return ranks;
}

const listed = (table: typeof BESIDES, file: string, { tests }: Sources): string[] =>
  table
    .filter(([files]) => matchesGlob(file, files))
    .flatMap(([, pattern]) => tests.filter((test) => matchesGlob(test, pattern)));

/** `functions/servers/create.ts` has `test/servers/create.*test.ts`, or else all of its folder. */
function testsOfFunction(id: string, { tests }: Sources): string[] {
  const [, folder = "", name = ""] = (ENTRIES[id] ?? "").split(/[/.]/);
  if (folder === "authorize") return tests.filter((test) => test.startsWith("test/auth/"));
  const inFolder = tests.filter((test) => test.startsWith(`test/${folder}/`));
  const ownTests = inFolder.filter((test) => test.startsWith(`test/${folder}/${name}.`));
  return ownTests.length > 0 ? ownTests : inFolder;
}

/** `shared/records/servers.ts` has `test/servers/`, and `dashboard/src/servers/list.tsx` `test/browser/servers.*test.ts`. */
function namesakes(file: string, { tests }: Sources): string[] {
  const [top, , ...names] = file.replace(/\.\w+$/, "").split("/");
  if (top === "dashboard")
    return tests.filter((test) => names.some((name) => new RegExp(`^test/browser/${name}s?\\.`).test(test)));
  if (top !== "shared") return [];
  return tests.filter((test) => names.some((name) => test.startsWith(`test/${name}/`) || test.startsWith(`test/${name}.`)));
}

/** What every test imports leads to every test, so it leads to none. */
const EVERYWHERE = /^test\/harness\//;

/** Maps the tests that import a file to how many imports away they are. */
function testsThatImport(file: string, { tests, importers }: Sources): Map<string, number> {
  const distances = new Map([[file, 0]]);
  for (const [each, distance] of distances)
    for (const importer of importers.get(each) ?? [])
      if (!distances.has(importer) && (!EVERYWHERE.test(importer) || EVERYWHERE.test(file)))
        distances.set(importer, distance + 1);
  return new Map([...distances].filter(([each]) => tests.includes(each)));
}
