// Runs the migrations that a table lacks, for the commands that start and deploy the service, and says how that went.
import { setTimeout as sleep } from "node:timers/promises";
import { hasMigrationsToRun, migrate } from "../shared/migrations/migrations.ts";
import { accountIds } from "../shared/operations/accounts/operator.ts";

/** The gateway waits 29 s for a request: after that, functions of the version before have handled theirs. */
const OLD_REQUESTS_SECONDS = 30;

/** False if one has failed: the service works without it, so this is no reason to stop it. */
export async function runMigrations({ deployed = false } = {}): Promise<boolean> {
  try {
    if (deployed && (await hasMigrationsToRun()) && (await accountIds()).length > 0) {
      console.log(`Waiting ${OLD_REQUESTS_SECONDS} s for the requests that functions of the version before still handle …`);
      await sleep(OLD_REQUESTS_SECONDS * 1000);
    }
    await migrate((line) => console.log(line));
    return true;
  } catch (error) {
    console.error(`A migration has not ended: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/** What to do about it. */
export const continueMigrations = (options: string): string =>
  `The service works, but older records lack what the migration adds. Continue it: npm run admin -- migrate ${options}`;
