// What the benchmark of health checks needs around the function, in a process of its own, whose time does not count: DynamoDB,
// the secret that keys derive from, and machines, each of which serves its line.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createTable, startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";
import { bytesOfId, newId } from "../../shared/domain/ids.ts";
import { keys } from "../../shared/data/keys.ts";
import { statusKeys } from "../../shared/platform/service-key.ts";
import { serverFields } from "../harness/seed.ts";
import { BUCKET, PROVIDERS, SECRET, startLocal, TABLE_PROPERTIES } from "../local/services.ts";

const COUNT = Number(process.argv[2]);
const MINUTES_BETWEEN_LOGINS = 10;

const local = await startLocal({ dynamodb: false });
const { region, credentials } = local.as("operator");
const database = await startDynamoDb({ accessKeyId: credentials.accessKeyId });
await createTable(database, TABLE_PROPERTIES);
const environment = {
  AWS_REGION: region,
  AWS_ENDPOINT_URL: local.aws.url,
  AWS_ENDPOINT_URL_DYNAMODB: database.url, // directly: what checks permissions on the way would compete for the processor
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  HOSTS_KEY: SECRET,
  PROVIDERS_SECRET: PROVIDERS,
  BACKUP_BUCKET: BUCKET,
  TABLE_NAME: "service",
  ENVIRONMENT: "live",
};
Object.assign(process.env, environment);

/** None whose login is due in the next five minutes. */
const minute = Math.floor(Date.now() / 60_000);
const isDue = (id: string): boolean => {
  const place = (minute + bytesOfId(id).readUInt16BE(14)) % MINUTES_BETWEEN_LOGINS;
  return place === 0 || place > MINUTES_BETWEEN_LOGINS / 2;
};
const ids: string[] = [];
while (ids.length < COUNT) {
  const id = newId("server");
  if (!isDue(id)) ids.push(id);
}

const lines = new Map<string, { id: string; key: Buffer }>();
for (const id of ids) {
  const [{ key, name }] = await statusKeys(id);
  lines.set(name, { id, key });
}

const account_id = newId("account");
const now = new Date().toISOString();
const items = ids.flatMap((id, index) => [
  {
    ...keys.record("server", account_id, id),
    ...serverFields(account_id, id, String(index).padStart(12, "0")),
    ip_address: "127.0.0.1",
    provider: "byo",
    instances: 0,
    failed_probes: 0,
  },
  {
    ...keys.watchedServer(id),
    account_id,
    server_id: id,
    last_seen_at: now,
    instances_at_login: 0,
    line: { sequence: 1, at: now, lost: false },
  },
]);
const documents = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: database.url, region, credentials }));
for (let from = 0; from < items.length; from += 25)
  await documents.send(
    new BatchWriteCommand({ RequestItems: { service: items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } })) } }),
  );

let sequence = 2;
const machines = createServer((request, response) => {
  const machine = lines.get(String(request.url).slice(1));
  if (machine === undefined) {
    response.writeHead(404).end();
    return;
  }
  const signed = `erp1 ${machine.id} ${sequence} -`;
  response.end(`${signed} ${createHmac("sha256", machine.key).update(signed).digest("hex")}\n`);
});
machines.listen(80, "127.0.0.1", () => console.log(JSON.stringify(environment)));

for await (const _ of createInterface(process.stdin)) {
  sequence += 1;
  console.log(sequence);
}
await database.stop();
process.exit(0);
