// Lagging indexes: copies of the tables at one moment, which serve the queries of indexes while the tables change.
import * as z from "zod";
import { callDynamoDb, createTable, type Database, deleteTable, describeTable } from "../../infra/local/dynamodb/dynamodb.ts";
import { LocalError } from "../../infra/local/errors.ts";

export interface HeldIndexes {
  /** The same query of the copy; undefined if it uses no held index. */
  redirect: (action: string, input: unknown) => unknown;
  remove: () => Promise<void>;
}

const BATCH = 25; // DynamoDB's own limit

const Page = z.object({
  Items: z.array(z.json()),
  LastEvaluatedKey: z.record(z.string(), z.json()).optional(),
});
const OfIndex = z.looseObject({ TableName: z.string(), IndexName: z.string() });

export async function holdIndexes(database: Database): Promise<HeldIndexes> {
  const call = async (action: string, input: object, tries = 3): Promise<unknown> => {
    const { status, body } = await callDynamoDb(database, action, input);
    if (status >= 500 && tries > 1) return call(action, input, tries - 1); // an error that the SDK would try again
    if (status !== 200) throw new LocalError(`${action} for a copy of the indexes failed: ${JSON.stringify(body)}`);
    return body;
  };
  const { TableNames } = z.object({ TableNames: z.array(z.string()) }).parse(await call("ListTables", {}));
  const copies = new Map<string, string>();
  for (const name of TableNames) {
    const table = await describeTable(database, name);
    if (table?.GlobalSecondaryIndexes === undefined) continue;
    const copy = `${name}.held`;
    await createTable(database, { ...table, TableName: copy });
    let from: object = {};
    do {
      const { Items, LastEvaluatedKey } = Page.parse(await call("Scan", { TableName: name, ConsistentRead: true, ...from }));
      for (let at = 0; at < Items.length; at += BATCH) {
        const puts = Items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } }));
        await call("BatchWriteItem", { RequestItems: { [copy]: puts } });
      }
      from = LastEvaluatedKey === undefined ? {} : { ExclusiveStartKey: LastEvaluatedKey };
    } while ("ExclusiveStartKey" in from);
    copies.set(name, copy);
  }
  return {
    redirect: (action, input) => {
      const query = OfIndex.safeParse(input).data;
      const copy = query && (action === "Query" || action === "Scan") ? copies.get(query.TableName) : undefined;
      return copy === undefined ? undefined : { ...query, TableName: copy };
    },
    remove: async () => {
      for (const name of copies.values()) await deleteTable(database, name);
    },
  };
}
