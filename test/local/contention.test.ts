// The model of transactions that meet: what DynamoDB rejects, and DynamoDB Local lets pass.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { contention } from "../../infra/local/dynamodb/contention.ts";

const TABLE = "service";
const keyOf = (id: string) => ({ pk: { S: "ACC" }, sk: { S: id } });
const updateOf = (id: string) => ({ TableName: TABLE, Key: keyOf(id) });
const transactionOf = (...ids: string[]) => ({ TransactItems: ids.map((id) => ({ Update: updateOf(id) })) });
/** The model as a function of an action, its input, and what the database does. */
function modelOf(milliseconds: number) {
  const hook = contention<string>(milliseconds);
  return (action: string, input: unknown, call: () => Promise<string>): Promise<string> =>
    hook({ ...CALL, actions: [], resources: [], action, input: () => Promise.resolve(input) }, call);
}
const CALL = { requestId: "", principal: "operator", service: "dynamodb", attempt: 1 } as const;
const finish = () => Promise.resolve("done");

test("a transaction keeps others, and single writes, from its items for as long as it takes", async () => {
  const during = modelOf(200);
  const first = during("TransactWriteItems", transactionOf("a", "b"), finish);
  await expect(during("TransactWriteItems", transactionOf("c", "b"), finish)).rejects.toMatchObject({
    name: "TransactionCanceledException",
    details: { CancellationReasons: [{ Code: "None" }, { Code: "TransactionConflict" }] },
  });
  await expect(during("UpdateItem", updateOf("a"), finish)).rejects.toMatchObject({ name: "TransactionConflictException" });
  const put = { TableName: TABLE, Item: { ...keyOf("b"), other: { N: "1" } } };
  await expect(during("PutItem", put, finish)).rejects.toMatchObject({ name: "TransactionConflictException" });
  expect(await during("UpdateItem", updateOf("c"), finish)).toBe("done");
  expect(await during("GetItem", updateOf("a"), finish)).toBe("done");
  expect(await first).toBe("done");
  expect(await during("TransactWriteItems", transactionOf("b"), finish)).toBe("done");
});

test("an item takes part in as many transactions a second as there is time for", async () => {
  const during = modelOf(50);
  const began = performance.now();
  for (let count = 0; count < 4; count++) await during("TransactWriteItems", transactionOf("a"), finish);
  expect(performance.now() - began).toBeGreaterThan(195);
});

test("a transaction that fails lets go of its items", async () => {
  const during = modelOf(1);
  await expect(during("TransactWriteItems", transactionOf("a"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await sleep(5);
  expect(await during("TransactWriteItems", transactionOf("a"), finish)).toBe("done");
});
