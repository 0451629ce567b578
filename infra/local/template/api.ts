// A REST API of a template: its paths with their methods, its authorizers, and its gateway responses.
import * as z from "zod";
import type { Resource } from "./resolve.ts";

const Integration = z.object({
  Type: z.literal("AWS_PROXY"),
  Uri: z.string(),
  TimeoutInMillis: z.number().default(29_000),
});
const MethodProperties = z.object({
  RestApiId: z.string(),
  ResourceId: z.string(),
  HttpMethod: z.string(),
  AuthorizerId: z.string().optional(),
  Integration: Integration,
});
export interface Method {
  httpMethod: string;
  authorizerId: string | undefined;
  integration: z.infer<typeof Integration>;
}

const AuthorizerProperties = z.object({
  RestApiId: z.string(),
  Type: z.literal("REQUEST"),
  AuthorizerUri: z.string(),
  // With an identity source, a request without it would be rejected before the authorizer is called.
  IdentitySource: z.literal("").optional(),
});
export interface Authorizer {
  id: string;
  functionArn: string;
}

const GatewayResponseProperties = z.object({
  RestApiId: z.string(),
  ResponseType: z.string(),
  StatusCode: z.coerce.number().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});
export type GatewayResponse = z.infer<typeof GatewayResponseProperties>;

export interface ApiResource {
  id: string;
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

const PartProperties = z.object({ RestApiId: z.string(), ParentId: z.string(), PathPart: z.string() });
const ApiProperties = z.object({
  BinaryMediaTypes: z.undefined().optional(),
  MinimumCompressionSize: z.number().optional(),
  Body: z.undefined().optional(),
});

/** The function in the address that API Gateway invokes: `…:lambda:path/2015-03-31/functions/ARN/invocations`. */
export const functionIn = (uri: string): string => uri.replace(/^.*functions\/([^/]+)\/invocations$/, "$1");

export function apiOf(api: Resource, resources: readonly Resource[]): RestApi {
  const of = (type: string): Resource[] =>
    resources.filter((each) => each.type === `AWS::ApiGateway::${type}` && each.properties["RestApiId"] === api.name);
  const parts = new Map(of("Resource").map(({ name, properties }) => [name, PartProperties.parse(properties)]));
  const pathOf = (id: string): string => {
    const part = parts.get(id);
    return part ? `${pathOf(part.ParentId)}/${part.PathPart}` : "";
  };
  const own = ApiProperties.parse(api.properties);
  const methods = of("Method").map(({ properties }) => MethodProperties.parse(properties));
  return {
    id: api.name,
    stage: z.string("the API has no stage").parse(of("Stage")[0]?.name),
    minimumCompressionSize: own.MinimumCompressionSize,
    resources: [`${api.name}.RootResourceId`, ...parts.keys()].map((id) => ({
      id,
      path: pathOf(id) || "/",
      methods: methods
        .filter(({ ResourceId }) => ResourceId === id)
        .map((method) => ({ httpMethod: method.HttpMethod, authorizerId: method.AuthorizerId, integration: method.Integration })),
    })),
    authorizers: of("Authorizer").map(({ name, properties }) => {
      const { AuthorizerUri } = AuthorizerProperties.parse(properties);
      return { id: name, functionArn: functionIn(AuthorizerUri) };
    }),
    gatewayResponses: of("GatewayResponse").map(({ properties }) => GatewayResponseProperties.parse(properties)),
  };
}
