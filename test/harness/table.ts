// The table as its operator sees it, for what no endpoint shows, such as whether a secret is stored in plain text.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";

let documents: { client: DynamoDBDocumentClient; table: string } | undefined;

export function useTable(environment: Record<string, string>): void {
  const {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint = "",
    AWS_REGION: region = "",
    AWS_ACCESS_KEY_ID: accessKeyId = "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
    TABLE_NAME: table = "",
  } = environment;
  documents ??= {
    client: DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region, credentials: { accessKeyId, secretAccessKey } })),
    table,
  };
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
