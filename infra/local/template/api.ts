// A REST API of a template: its stage, and what its body, an OpenAPI document, says of methods, authorizers and the gateway's own
// responses.
import * as z from "zod";
import { LocalError } from "../errors.ts";
import type { Resource } from "./resolve.ts";

// Strict throughout: whatever the gateway would do because of another field, this machine would not.
const Integration = z.strictObject({
  type: z.literal("aws_proxy"),
  httpMethod: z.literal("POST"),
  uri: z.string(),
  credentials: z.string(),
  timeoutInMillis: z.number().default(29_000),
});
const Operation = z.strictObject({
  parameters: z.array(z.unknown()).optional(),
  responses: z.record(z.string(), z.unknown()),
  security: z.tuple([z.record(z.string(), z.tuple([]))]).optional(),
  "x-amazon-apigateway-integration": Integration,
});

const ANY = "x-amazon-apigateway-any-method";
const Verb = z.enum(["get", "put", "post", "delete", "options", "head", "patch", ANY]);
const Path = z.partialRecord(Verb, Operation);

const SecurityScheme = z.strictObject({
  type: z.literal("apiKey"),
  name: z.literal("Unused"),
  in: z.literal("header"),
  "x-amazon-apigateway-authtype": z.literal("custom"),
  // With an identity source, a request without it would be rejected before the authorizer is called.
  "x-amazon-apigateway-authorizer": z.strictObject({
    type: z.literal("request"),
    authorizerUri: z.string(),
    authorizerCredentials: z.string(),
    // Nothing is cached here.
    authorizerResultTtlInSeconds: z.literal(0),
  }),
});

const Response = z.strictObject({
  statusCode: z.coerce.number().optional(),
  responseParameters: z.record(z.string(), z.string()).default({}),
  responseTemplates: z.record(z.string(), z.string()).default({}),
});

const Body = z.strictObject({
  openapi: z.literal("3.0.1"),
  info: z.looseObject({}),
  paths: z.record(z.string(), Path),
  components: z.strictObject({ securitySchemes: z.record(z.string(), SecurityScheme) }),
  "x-amazon-apigateway-gateway-responses": z.record(z.string(), Response),
});

const ApiProperties = z.object({
  BinaryMediaTypes: z.undefined().optional(),
  MinimumCompressionSize: z.number().optional(),
  Body,
});

export interface Method {
  httpMethod: string;
  /** Undefined if everybody may call it. */
  authorizer: string | undefined;
  functionArn: string;
  timeoutMilliseconds: number;
  /** The role by which the gateway invokes the function. */
  role: string;
}
export interface Authorizer {
  name: string;
  functionArn: string;
  role: string;
}
export type GatewayResponse = z.infer<typeof Response> & { type: string };

export interface ApiResource {
  path: string;
  methods: Method[];
}
export interface RestApi {
  id: string;
  stage: string;
  /** Responses from this size on are compressed; undefined: never. */
  minimumCompressionSize: number | undefined;
  resources: ApiResource[];
  authorizers: Authorizer[];
  gatewayResponses: GatewayResponse[];
}

/** The function in the address that API Gateway invokes: `…:lambda:path/2015-03-31/functions/ARN/invocations`. */
const functionIn = (uri: string): string => uri.replace(/^.*functions\/([^/]+)\/invocations$/, "$1");

/** Others would define a part of the API that is not in its body. */
const BESIDE_THE_BODY = ["Resource", "Method", "Authorizer", "GatewayResponse"].map((name) => `AWS::ApiGateway::${name}`);

export function readApi(api: Resource, resources: readonly Resource[]): RestApi {
  const ownResources = resources.filter(({ properties }) => properties["RestApiId"] === api.name);
  const beside = ownResources.find(({ type }) => BESIDE_THE_BODY.includes(type));
  if (beside !== undefined)
    throw new LocalError(`${beside.logicalId} is a ${beside.type}: put it into the body of ${api.logicalId}`);
  const { MinimumCompressionSize, Body: body } = ApiProperties.parse(api.properties);
  const schemes = body.components.securitySchemes;
  return {
    id: api.name,
    stage: z.string("the API has no stage").parse(ownResources.find(({ type }) => type === "AWS::ApiGateway::Stage")?.name),
    minimumCompressionSize: MinimumCompressionSize,
    resources: Object.entries(body.paths).map(([path, operations]) => ({
      path,
      methods: Object.entries(operations).map(([verb, operation]) => readMethod(verb, operation, Object.keys(schemes))),
    })),
    authorizers: Object.entries(schemes).map(([name, scheme]) => {
      const { authorizerUri, authorizerCredentials } = scheme["x-amazon-apigateway-authorizer"];
      return { name, functionArn: functionIn(authorizerUri), role: authorizerCredentials };
    }),
    gatewayResponses: Object.entries(body["x-amazon-apigateway-gateway-responses"]).map(([type, response]) => ({
      type,
      ...response,
    })),
  };
}

function readMethod(verb: string, operation: z.infer<typeof Operation>, authorizers: readonly string[]): Method {
  const { security: [demanded = {}] = [], "x-amazon-apigateway-integration": integration } = operation;
  const [authorizer] = Object.keys(demanded);
  if (authorizer !== undefined && !authorizers.includes(authorizer))
    throw new LocalError(`The API's body has no security scheme ${authorizer}, but a method that demands it`);
  return {
    httpMethod: verb === ANY ? "ANY" : verb.toUpperCase(),
    authorizer,
    functionArn: functionIn(integration.uri),
    timeoutMilliseconds: integration.timeoutInMillis,
    role: integration.credentials,
  };
}
