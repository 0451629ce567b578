// The table as its operator sees it, for what no endpoint shows, such as whether a secret is stored in plain text.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";

let documents: { client: DynamoDBDocumentClient; table: string } | undefined;

/** A client of the table of a cloud, by the environment of its functions. */
export function tableOf(environment: Record<string, string>): { client: DynamoDBClient; table: string } {
  const {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint = "",
    AWS_REGION: region = "",
    AWS_ACCESS_KEY_ID: accessKeyId = "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
    TABLE_NAME: table = "",
  } = environment;
  return { client: new DynamoDBClient({ endpoint, region, credentials: { accessKeyId, secretAccessKey } }), table };
}

export function useTable(environment: Record<string, string>): void {
  if (documents !== undefined) return;
  const { client, table } = tableOf(environment);
  documents = { client: DynamoDBDocumentClient.from(client), table };
}

export function table(): { client: DynamoDBDocumentClient; table: string } {
  if (documents === undefined) throw new Error("Make an account first: it says which cloud's table is meant");
  return documents;
}

/** Every item, each as one JSON text. */
export async function everyItem(): Promise<string[]> {
  const { client, table: TableName } = table();
  const texts: string[] = [];
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true }))
    texts.push(
      ...(page.Items ?? []).map((item) =>
        JSON.stringify(item, (_, value: unknown) => (value instanceof Set ? [...value] : value)),
      ),
    );
  return texts;
}

const keyOf = ({ pk, sk }: Record<string, unknown>): string => JSON.stringify([pk, sk]);

/** The keys of every item. */
export async function everyKey(): Promise<Map<string, Record<string, unknown>>> {
  const { client, table: TableName } = table();
  const keys = new Map<string, Record<string, unknown>>();
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true, ProjectionExpression: "pk, sk" }))
    for (const key of page.Items ?? []) keys.set(keyOf(key), key);
  return keys;
}

/** Deletes what was added since `everyKey`, so that a test that reads the whole table again and again stays fast. */
export async function deleteAddedSince(before: ReadonlyMap<string, unknown>): Promise<void> {
  const { client, table: TableName } = table();
  const added = [...(await everyKey())].filter(([name]) => !before.has(name)).map(([, Key]) => ({ DeleteRequest: { Key } }));
  for (let start = 0; start < added.length; start += 25)
    await client.send(new BatchWriteCommand({ RequestItems: { [TableName]: added.slice(start, start + 25) } }));
}
