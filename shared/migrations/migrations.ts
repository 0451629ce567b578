// Migrations: what a version changes in the records of earlier ones. `npm run deploy` and `npm start` run those that are missing,
// in order, while the service is used. All of them only add, so that the version before can still read everything: it serves
// beside this one for minutes, and after a rollback alone.
import * as z from "zod";
import { indexAccount, type MigrationCursor } from "./indexing.ts";
import { keys } from "../data/keys.ts";
import { accountIds } from "../operations/accounts/operator.ts";
import { find, putIfAbsent, updateOne } from "../data/table.ts";

interface Migration {
  number: number;
  name: string;
  /** The title for whoever waits for it. */
  title: string;
  /**
   * Changes an account's records, from a position that an earlier run has reached; yields each position that it reaches. It may
   * be killed anywhere and run twice, even at the same time, and leaves alone what it cannot read and what has changed since it
   * was read. A position that it does not know is of a later version of it: it then begins anew.
   */
  run: (accountId: string, from?: MigrationCursor) => AsyncIterable<MigrationCursor>;
}

/** Additions at the end only; `test/golden/codes.json` lists their numbers. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "index", title: "Search, filters, labels, the overview and quotas know older records", run: indexAccount },
];

const Schema = z.object({
  /** The last migration that is done in all accounts. */
  done: z.number().default(0),
  /**
   * The last one that ever was: a later one than `done` after a rollback, because an earlier version's changes lack what it adds.
   */
  highest: z.number().default(0),
  /** The one in progress, and how far it has come. */
  running: z
    .object({
      number: z.number(),
      account_id: z.string(),
      place: z.object({ step: z.string(), after: z.record(z.string(), z.unknown()) }).nullable(),
      started_at: z.string(),
    })
    .nullable()
    .default(null),
});
type Schema = z.infer<typeof Schema>;

const ref = { key: keys.schema(), schema: Schema };

/** Which migrations the table has. */
export const findSchema = async (): Promise<Schema> => (await find(ref)) ?? { done: 0, highest: 0, running: null };

export const hasMigrationsToRun = async (migrations = MIGRATIONS): Promise<boolean> =>
  (await findSchema()).done < highestNumber(migrations);

const highestNumber = (migrations: readonly Migration[]): number => Math.max(0, ...migrations.map(({ number }) => number));

type Report = (line: string) => void;

/** Runs all that are missing, each from where it was stopped. */
export async function migrate(report: Report, migrations = MIGRATIONS): Promise<void> {
  const newest = highestNumber(migrations);
  await putIfAbsent(ref.key, { done: 0, highest: 0, running: null });
  await recordRollback(newest, report);
  for (let state = await findSchema(); state.done < newest; state = await findSchema()) {
    const next = migrations.find(({ number }) => number === state.done + 1);
    if (next === undefined) throw new Error(`There is no migration ${state.done + 1}`);
    await run(next, state, report);
  }
}

/** From now on this version changes records: what later migrations add must be added again after the next upgrade. */
async function recordRollback(newest: number, report: Report): Promise<void> {
  const { done, highest } = await findSchema();
  if (highest > newest)
    report(
      `The data was last used by a newer version (migration ${highest}; this version knows ${newest}). This version can use it: migrations only add. The next upgrade repeats those from ${newest + 1} on.`,
    );
  if (done > newest) await updateOne(ref.key, { set: { done: newest, running: null } }, { equals: { done } });
}

async function run({ number, title, run: runIn }: Migration, { done, running }: Schema, report: Report): Promise<void> {
  const resumed = running?.number === number ? running : undefined;
  const started_at = resumed?.started_at ?? new Date().toISOString();
  const began = performance.now();
  const accounts = (await accountIds()).toSorted().filter((id) => id >= (resumed?.account_id ?? ""));
  if (accounts.length > 0) report(`Migration ${number}${resumed === undefined ? "" : ", from where it was stopped"}: ${title} …`);
  /** False if another run has finished it meanwhile, or an older version has taken over. */
  const isNoted = async (account_id: string, cursor: MigrationCursor | null): Promise<boolean> =>
    (await updateOne(ref.key, { set: { running: { number, account_id, place: cursor, started_at } } }, { equals: { done } }))
      .done;
  for (const id of accounts) {
    const from = id === resumed?.account_id ? (resumed.place ?? undefined) : undefined;
    if (from === undefined && !(await isNoted(id, null))) return;
    for await (const cursor of runIn(id, from)) if (!(await isNoted(id, cursor))) return;
  }
  const highest = Math.max(number, (await findSchema()).highest);
  await updateOne(ref.key, { set: { done: number, highest, running: null } }, { equals: { done } });
  if (accounts.length > 0) report(`Migration ${number} is done after ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
