// What AWS's serverless-typescript-demo does in one of its functions: a product by its ID, with the packages that it uses around
// it.
import { injectLambdaContext, Logger } from "@aws-lambda-powertools/logger";
import { logMetrics, Metrics, MetricUnits } from "@aws-lambda-powertools/metrics";
import { captureLambdaHandler, Tracer } from "@aws-lambda-powertools/tracer";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import { captureAWSv3Client } from "aws-xray-sdk-core";

const logger = new Logger({ serviceName: "products" });
const metrics = new Metrics({ serviceName: "products", namespace: "products" });
const tracer = new Tracer({ serviceName: "products" });
const client = new DynamoDBClient({});
const documents = DynamoDBDocumentClient.from(tracer.isTracingEnabled() ? captureAWSv3Client(client) : client);

const respond = (statusCode, body) => ({
  statusCode,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

async function getProduct({ pathParameters }) {
  const id = pathParameters?.id;
  if (id === undefined) return respond(400, { message: "No product ID" });
  const { Item } = await documents.send(new GetCommand({ TableName: process.env["TABLE_NAME"], Key: { id } }));
  metrics.addMetric(Item === undefined ? "missing" : "found", MetricUnits.Count, 1);
  if (Item !== undefined) return respond(200, Item);
  logger.warn("no such product", { id });
  return respond(404, { message: "No such product" });
}

export const handler = middy(getProduct)
  .use(captureLambdaHandler(tracer))
  .use(logMetrics(metrics))
  .use(injectLambdaContext(logger));
