// A model of what DynamoDB Local lacks: transactions that meet on an item. While a transaction writes or checks an item, DynamoDB
// rejects every other write of that item, and the transaction takes some time.
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Call } from "../aws/calls.ts";
import { AwsFault } from "../errors.ts";
import type { Hook } from "../hooks.ts";

const Named = z.looseObject({
  TableName: z.string(),
  Key: z.unknown().optional(),
  Item: z.record(z.string(), z.unknown()).optional(),
});
const Transaction = z.looseObject({ TransactItems: z.array(z.record(z.string(), Named)) });
const SINGLE = /^(Put|Update|Delete)Item$/;

/**
 * Rejects a call of DynamoDB, or keeps others from its items for as long as it takes. A transaction takes at least so long: with
 * 50, as many on one item as a second has room for twenty.
 */
export function contention<Reply>(milliseconds: number): Hook<Call, Reply> {
  const heldItems = new Set<string>();
  return async ({ service, action, input }, next) => {
    if (service !== "dynamodb") return next();
    if (SINGLE.test(action)) {
      if (heldItems.has(nameItem(Named.parse(await input()))))
        throw new AwsFault("TransactionConflictException", "Transaction is ongoing for the item");
      return next();
    }
    if (action !== "TransactWriteItems") return next();
    const items = Transaction.parse(await input()).TransactItems.flatMap((each) => Object.values(each).map(nameItem));
    const codes = items.map((item) => (heldItems.has(item) ? "TransactionConflict" : "None"));
    if (codes.includes("TransactionConflict"))
      throw new AwsFault("TransactionCanceledException", `Transaction cancelled [${codes.join(", ")}]`, 400, {
        CancellationReasons: codes.map((Code) => ({ Code })),
      });
    for (const item of items) heldItems.add(item);
    const over = sleep(milliseconds);
    try {
      return await next();
    } finally {
      await over;
      for (const item of items) heldItems.delete(item);
    }
  };
}

/** All tables of the service have these keys. */
function nameItem({ TableName, Key, Item }: z.infer<typeof Named>): string {
  return JSON.stringify(
    [TableName, Key ?? [Item?.["pk"], Item?.["sk"]]].flatMap((part) => (part instanceof Object ? Object.values(part) : part)),
  );
}
