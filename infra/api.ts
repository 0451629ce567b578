// The REST API: a method with its own function for every route of the table, and our envelope for the gateway's own responses.
import { Duration, RemovalPolicy, Size, Validations } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  type IAuthorizer,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  MethodLoggingLevel,
  RequestAuthorizer,
  ResponseType,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { CfnSamplingRule } from "aws-cdk-lib/aws-xray";
import { Construct } from "constructs";
import { type ErrorCode, ERRORS } from "../shared/api/errors.ts";
import { BASE_PATH, type Route, routes } from "../shared/api/index.ts";
import type { Access, Functions } from "./function.ts";
import type { OriginKey } from "./origin-key.ts";
import { logsOf } from "./removal.ts";
import { type Settings, stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

/** One second less than the gateway waits. The slowest response is an operation's `?wait=20`. */
const TIMEOUT = Duration.seconds(28);
/** More than the database client needs for its three tries, so that the client's error comes first. */
const AUTHORIZER_TIMEOUT = Duration.seconds(20);
const RETRY_AFTER_SECONDS = 5;
/** The share of requests that are traced, at 5 US$ per million traces. */
const TRACED = 0.05;

export const routesOf = (environment: Environment): Route[] =>
  routes.filter(({ only }) => only === undefined || only === environment);

/** A GET's function has all methods that no other route of its path has: it also serves HEAD, and returns 405 for the rest. */
export const gatewayMethodOf = ({ method }: Route): string => (method === "GET" ? "ANY" : method);

/** A route's function may do what the route declares. */
const accessOf = ({ writes, stateless, starts, keys, storage }: Route): Access => ({
  ...(stateless ? {} : { table: writes ? ("write" as const) : ("read" as const) }),
  starts,
  keys,
  storage,
});

interface Props {
  environment: Environment;
  settings: Settings;
  functions: Functions;
  /** For the functions that requests reach first: they check whether a request came through CloudFront. */
  originKey: OriginKey;
  logGroup: LogGroup;
}

export class Api extends Construct {
  readonly rest: RestApi;
  readonly authorize: LambdaFunction;

  constructor(scope: Construct, id: string, { environment, settings, functions, originKey, logGroup }: Props) {
    super(scope, id);
    this.rest = this.restApi(environment, settings);

    this.authorize = functions.make(this, "authorize", {
      bundle: "authorize",
      description: "Authenticates each request and counts it against its limits",
      access: { table: "authorize", keys: ["session"] },
      timeout: AUTHORIZER_TIMEOUT,
      logGroup,
    });
    originKey.shareWith(this.authorize);
    const authorizer = new RequestAuthorizer(this, "authorizer", {
      handler: this.authorize,
      // No cache, so that a revoked token is invalid for the next request; no sources, so that requests without the header reach it, too.
      identitySources: [],
      resultsCacheTtl: Duration.seconds(0),
    });

    const resources = new Map<string, IResource>();
    for (const route of routesOf(environment)) {
      const handler = functions.make(this, route.id, {
        bundle: route.id,
        description: `${route.method} ${route.path}: ${route.summary}`,
        access: accessOf(route),
        timeout: TIMEOUT,
        logGroup,
      });
      const resource = this.rest.root.resourceForPath(`${BASE_PATH}${route.path.replaceAll(/:(\w+)/g, "{$1}")}`);
      const method = resource.addMethod(
        gatewayMethodOf(route),
        new LambdaIntegration(handler, { allowTestInvoke: false }),
        route.access === "public" ? OPEN : behind(authorizer),
      );
      if (route.access === "public") {
        acknowledgeOpen(method);
        originKey.shareWith(handler);
      }
      for (let each: IResource | undefined = resource; each !== undefined; each = each.parentResource)
        resources.set(each.path, each);
    }
    this.addFallback([...resources.values()], { functions, originKey, logGroup });
    this.addGatewayErrors();
  }

  private restApi(environment: Environment, settings: Settings): RestApi {
    const kept = logsOf(settings);
    const access = new LogGroup(this, "access", kept);
    const rest = new RestApi(this, "rest", {
      restApiName: stackName(environment),
      description: `ERP control plane, ${environment}`,
      endpointTypes: [EndpointType.REGIONAL],
      minCompressionSize: Size.kibibytes(1),
      // A setting of the account, shared by all of its APIs: it must outlive this one.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: environment,
        tracingEnabled: true,
        throttlingRateLimit: settings.requestsPerSecond,
        throttlingBurstLimit: settings.requestsBurst,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        metricsEnabled: false,
        accessLogDestination: new LogGroupLogDestination(access),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.sample(environment);
    // API Gateway creates this group itself at its first error, and would keep it for ever.
    const errors = new LogGroup(this, "errors", {
      logGroupName: `API-Gateway-Execution-Logs_${rest.restApiId}/${environment}`,
      ...kept,
    });
    rest.deploymentStage.node.addDependency(errors);
    acknowledgeRest(rest);
    return rest;
  }

  private sample(environment: Environment): void {
    // If there are few requests, AWS would trace nearly all of them, which costs more than everything else. Errors are in the log.
    new CfnSamplingRule(this, "sampling", {
      samplingRule: {
        ruleName: stackName(environment),
        serviceName: `${stackName(environment)}/${environment}`,
        serviceType: "AWS::ApiGateway::Stage",
        resourceArn: "*",
        host: "*",
        httpMethod: "*",
        urlPath: "*",
        priority: 1000,
        reservoirSize: 0,
        fixedRate: TRACED,
        version: 1,
      },
    });
  }

  /** 404 and 405 in the envelope, from one function: on every path without a GET for its missing methods, and for all unknown paths. */
  private addFallback(
    resources: IResource[],
    { functions, originKey, logGroup }: Pick<Props, "functions" | "originKey" | "logGroup">,
  ): void {
    const fallback = functions.make(this, "fallback", {
      bundle: "fallback",
      description: "Responds to paths and methods that the API does not have",
      access: {},
      timeout: AUTHORIZER_TIMEOUT,
      logGroup,
    });
    originKey.shareWith(fallback);
    // One permission for the whole API: a function's policy has no room for one per path.
    const integration = new LambdaIntegration(fallback, { scopePermissionToMethod: false });
    const bases = ["/", "/api", BASE_PATH];
    const others = resources.filter(({ path }) => bases.includes(path)).map((base) => base.addResource("{proxy+}"));
    const unclaimed = [...resources, ...others].filter((resource) => resource.node.tryFindChild("ANY") === undefined);
    for (const resource of unclaimed) acknowledgeOpen(resource.addMethod("ANY", integration, OPEN));
  }

  /** The gateway's own errors. */
  private addGatewayErrors(): void {
    for (const [type, { code, message, status, requestId, retryAfter }] of GATEWAY_ERRORS) {
      this.rest.addGatewayResponse(type.responseType, {
        type,
        ...(status === "kept" ? {} : { statusCode: String(status ?? ERRORS[code].status) }),
        responseHeaders: {
          "Content-Type": "'application/json'",
          "Cache-Control": "'no-store'",
          "X-Content-Type-Options": "'nosniff'",
          "X-Request-ID": requestId ?? "context.requestId",
          ...(code === "UNAUTHORIZED" && { "WWW-Authenticate": "'Bearer'" }),
          ...(retryAfter === undefined ? {} : { "Retry-After": `'${retryAfter}'` }),
        },
        templates: {
          "application/json": JSON.stringify({ success: false, error: { code, message: message ?? ERRORS[code].message } }),
        },
      });
    }
  }
}

function acknowledgeRest(rest: RestApi): void {
  Validations.of(rest).acknowledge(
    {
      id: "AwsSolutions-APIG2",
      reason: "Functions check every request against the route's schema, so that the error names each invalid field",
    },
    {
      id: "AwsSolutions-COG4",
      reason: "Credentials are API tokens and the service's own sessions, which our authorizer checks",
    },
    {
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
      reason: "The policy that AWS provides for this purpose",
    },
  );
  Validations.of(rest.deploymentStage).acknowledge({
    id: "AwsSolutions-APIG3",
    reason: "Limits are per credential and exact, in the authorizer, and the stage has limits of its own",
  });
}

const OPEN = { authorizationType: AuthorizationType.NONE };
const behind = (authorizer: IAuthorizer) => ({ authorizer, authorizationType: AuthorizationType.CUSTOM });

const acknowledgeOpen = (method: Method): void =>
  Validations.of(method).acknowledge({
    id: "AwsSolutions-APIG4",
    reason: "Public by contract (sign-in, health, OpenAPI document), or returns only 404 and 405",
  });

/** No header and no body: both may hold secrets. */
const ACCESS_LOG = {
  request_id: "$context.authorizer.request_id",
  gateway_request_id: "$context.requestId",
  ip: "$context.authorizer.ip_address",
  edge_ip: "$context.identity.sourceIp",
  user_agent: "$context.identity.userAgent",
  time: "$context.requestTimeEpoch",
  method: "$context.httpMethod",
  path: "$context.path",
  resource: "$context.resourcePath",
  status: "$context.status",
  gateway_error: "$context.error.responseType",
  latency_ms: "$context.responseLatency",
  authorizer_ms: "$context.authorizer.latency",
  integration_ms: "$context.integration.latency",
  trace: "$context.xrayTraceId",
};

interface GatewayError {
  code: ErrorCode;
  /** If it differs from the code's own. */
  message?: string;
  status?: number | "kept";
  /** Where the request's ID is, if not in `context.requestId`. */
  requestId?: string;
  retryAfter?: number;
}

const UNAVAILABLE: GatewayError = { code: "SERVICE_UNAVAILABLE", retryAfter: RETRY_AFTER_SECONDS };

const GATEWAY_ERRORS: readonly (readonly [ResponseType, GatewayError])[] = [
  // The authorizer's Deny. Its context has only flat strings, which templates can read: the client's own request ID is returned.
  [ResponseType.ACCESS_DENIED, { code: "UNAUTHORIZED", requestId: "context.authorizer.request_id" }],
  [ResponseType.UNAUTHORIZED, { code: "UNAUTHORIZED" }],
  [ResponseType.AUTHORIZER_FAILURE, UNAVAILABLE],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, UNAVAILABLE],
  [ResponseType.INTEGRATION_FAILURE, UNAVAILABLE],
  [ResponseType.INTEGRATION_TIMEOUT, UNAVAILABLE],
  // Not a credential's own limit, which the authorizer counts, but the limit of the whole deployment.
  [ResponseType.THROTTLED, { code: "SERVICE_UNAVAILABLE", retryAfter: 1 }],
  [ResponseType.QUOTA_EXCEEDED, { code: "RATE_LIMIT_EXCEEDED", retryAfter: 60 }],
  [ResponseType.REQUEST_TOO_LARGE, { code: "PAYLOAD_TOO_LARGE" }],
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, { code: "NOT_FOUND" }],
  [ResponseType.RESOURCE_NOT_FOUND, { code: "NOT_FOUND" }],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, { code: "UNSUPPORTED_MEDIA_TYPE" }],
  [ResponseType.BAD_REQUEST_BODY, { code: "MALFORMED_REQUEST" }],
  [ResponseType.BAD_REQUEST_PARAMETERS, { code: "MALFORMED_REQUEST", message: "The path or the query is malformed" }],
  [ResponseType.DEFAULT_4XX, { code: "MALFORMED_REQUEST", message: "The request is malformed", status: "kept" }],
  // The gateway returns its own 500 for a function that AWS throttles, so its own errors are worth a retry.
  [ResponseType.DEFAULT_5XX, UNAVAILABLE],
];
