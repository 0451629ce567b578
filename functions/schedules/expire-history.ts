// Every six hours: deletes events, ended operations and closed alerts that are older than the service keeps them, closes alerts
// whose time is up, says which API tokens expire soon, and looks whether domains of single sign-on still have their TXT records.
import { DAY_MS, MINUTE_MS } from "../../shared/domain/durations.ts";
import { removeHistory } from "../../shared/records/history.ts";
import { endAlerts } from "../../shared/operations/monitoring/alert-ends.ts";
import { accountIds } from "../../shared/operations/accounts/operator.ts";
import { checkDomains } from "../../shared/operations/sign-in/sso-domains.ts";
import { ConditionFailed } from "../../shared/data/table.ts";
import { HISTORY_DAYS } from "../../shared/domain/limits.ts";
import { concurrentlyLogged } from "../../shared/runtime/concurrently-logged.ts";
import { shuffled } from "../../shared/runtime/shuffled.ts";

const ACCOUNTS_AT_ONCE = 10;
const MINUTES = 10;

export const handler = async (): Promise<void> => {
  const began = Date.now();
  const before = new Date(began - HISTORY_DAYS * DAY_MS).toISOString();
  const outOfTime = (): boolean => Date.now() - began > MINUTES * MINUTE_MS;
  // Accounts come in a new order each time, so that one with millions of old records does not hold up the rest.
  const remove = async (accountId: string): Promise<void> => {
    await endAlerts(accountId, began);
    await checkDomains(accountId, began);
    for (const kind of ["event", "outcome", "operation", "alert"] as const)
      await removeHistory(accountId, kind, { before, outOfTime }).catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) throw error; // a concurrent run removes the same
      });
  };
  await concurrentlyLogged(ACCOUNTS_AT_ONCE, shuffled(await accountIds()), remove, (account) => ({ account }));
};
