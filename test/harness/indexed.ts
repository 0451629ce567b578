// Runs the first migration for one account.
import { indexAccount } from "../../shared/migrations/indexing.ts";

export async function indexed(accountId: string): Promise<void> {
  for await (const _ of indexAccount(accountId));
}
