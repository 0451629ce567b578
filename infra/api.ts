// The REST API: a function for every route of the table, and the gateway in front of them with its stage, logs and role.
import { ArnFormat, Duration, RemovalPolicy, Size, Stack, Validations } from "aws-cdk-lib";
import {
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { CfnSamplingRule } from "aws-cdk-lib/aws-xray";
import { Construct } from "constructs";
import { api, type Route, routes } from "../shared/api/index.ts";
import { BASE_PATH } from "../shared/api/base-path.ts";
import { ANY, apiBody, type Method } from "./api-body.ts";
import { readCommit } from "./commit.ts";
import { endpointAccess } from "./endpoint-access.ts";
import type { Functions } from "./function.ts";
import type { OriginKey } from "./origin-key.ts";
import { chooseLogs } from "./removal.ts";
import { type Settings, stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

/** One second less than the gateway waits. The slowest response is an operation's `?wait=20`. */
const TIMEOUT = Duration.seconds(28);
/** More than the database client needs for its three tries, so that the client's error comes first. */
const AUTHORIZER_TIMEOUT = Duration.seconds(20);
/** The share of requests that are traced, at 5 US$ per million traces. */
const TRACED = 0.05;

export const listRoutes = (environment: Environment): Route[] =>
  routes.filter(({ only }) => only === undefined || only === environment);

/** A GET's function has all methods that no other route of its path has: it also serves HEAD, and returns 405 for the rest. */
export const toGatewayMethod = ({ method }: Route): string => (method === "GET" ? ANY : method);

export const toGatewayPath = ({ path }: Route): string => `${BASE_PATH}${path.replaceAll(/:(\w+)/g, "{$1}")}`;

interface Props {
  environment: Environment;
  settings: Settings;
  functions: Functions;
  /** The key by which the functions that requests reach first check whether a request came through CloudFront. */
  originKey: OriginKey;
  logGroup: LogGroup;
}

export class Api extends Construct {
  readonly rest: SpecRestApi;
  /** One line for each request. */
  readonly accessLog: LogGroup;
  readonly authorize: LambdaFunction;
  private readonly props: Props;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    this.props = props;
    const { environment, functions, originKey, logGroup } = props;
    this.authorize = functions.make(this, "authorize", {
      bundle: "authorize",
      description: "Authenticates each request and counts it against its limits",
      access: { table: "authorize", keys: ["session"] },
      timeout: AUTHORIZER_TIMEOUT,
      logGroup,
    });
    originKey.shareWith(this.authorize);
    const methods = listRoutes(environment).map((route) => this.method(route));
    this.accessLog = new LogGroup(this, "access", chooseLogs(props.settings));
    this.rest = this.restApi([...methods, ...this.fallbacks(methods)]);
  }

  private method(route: Route): Method {
    const { functions, originKey, logGroup } = this.props;
    const handler = functions.make(this, route.id, {
      bundle: route.id,
      description: `${route.method} ${route.path}: ${route.summary}`,
      access: endpointAccess(route),
      timeout: TIMEOUT,
      logGroup,
    });
    const commit = route.path === api.health.get.path ? readCommit() : null;
    if (commit !== null) handler.addEnvironment("COMMIT", commit);
    const open = route.access === "public";
    if (open) originKey.shareWith(handler);
    return { method: toGatewayMethod(route), path: toGatewayPath(route), handler, status: route.status, open };
  }

  /**
   * 404 and 405 in the envelope, from one function: on every path without a GET for its missing methods, and for all unknown
   * paths.
   */
  private fallbacks(methods: readonly Method[]): Method[] {
    const { functions, originKey, logGroup } = this.props;
    const handler = functions.make(this, "fallback", {
      bundle: "fallback",
      description: "Responds to paths and methods that the API does not have",
      access: {},
      timeout: AUTHORIZER_TIMEOUT,
      logGroup,
    });
    originKey.shareWith(handler);
    const claimed = new Set(methods.filter(({ method }) => method === ANY).map(({ path }) => path));
    const paths = new Set([...methods.flatMap(({ path }) => withParents(path)), ...UNKNOWN]);
    return [...paths]
      .filter((path) => !claimed.has(path))
      .map((path) => ({ method: ANY, path, handler, status: 404, open: true }));
  }

  private restApi(methods: readonly Method[]): SpecRestApi {
    const { environment, settings } = this.props;
    const logs = chooseLogs(settings);
    const about = { title: stackName(environment), description: `ERP control plane, ${environment}` };
    // Earlier versions had "rest", with a resource for each method. Under that ID, CloudFormation would first import the body
    // into the old API and then delete the methods that the template no longer has.
    const rest = new SpecRestApi(this, "gateway", {
      apiDefinition: ApiDefinition.fromInline(apiBody({ ...about, methods, authorizer: this.authorize, role: this.invoker() })),
      // What the gateway does not understand fails the deployment and changes nothing, instead of being left out.
      failOnWarnings: true,
      restApiName: about.title,
      description: about.description,
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
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.sample(environment);
    // API Gateway creates this group itself at its first error, and would keep it for ever.
    const errors = new LogGroup(this, "errors", {
      logGroupName: `API-Gateway-Execution-Logs_${rest.restApiId}/${environment}`,
      ...logs,
    });
    rest.deploymentStage.node.addDependency(errors);
    acknowledgeRest(rest);
    return rest;
  }

  /**
   * Invokes this construct's functions, which CloudFormation names after it: a list of them all would outgrow a role's policy.
   */
  private invoker(): Role {
    const stack = Stack.of(this);
    const resourceName = `${stack.stackName}-${this.node.id}*`;
    const functions = stack.formatArn({
      service: "lambda",
      resource: "function",
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const statements = [new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [functions] })];
    const role = new Role(this, "invoke", {
      description: "May invoke the functions of the API",
      // There is no condition on the account: AWS does not say that API Gateway names one, and if it does not, no request would
      // succeed.
      assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
      inlinePolicies: { access: new PolicyDocument({ statements }) },
    });
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:${resourceName}]`,
      reason: "The functions of the API, and no other's names begin so",
    });
    return role;
  }

  private sample(environment: Environment): void {
    // If there are few requests, AWS would trace nearly all of them, which costs more than everything else. Errors are in the
    // log.
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
    // A trace has the path, in which a deploy hook has its secret.
    new CfnSamplingRule(this, "hooks sampling", {
      samplingRule: {
        ruleName: `${stackName(environment)}-hook`,
        serviceName: `${stackName(environment)}/${environment}`,
        serviceType: "AWS::ApiGateway::Stage",
        resourceArn: "*",
        host: "*",
        httpMethod: "*",
        urlPath: `*${BASE_PATH}/hooks/*`,
        priority: 999,
        reservoirSize: 0,
        fixedRate: 0,
        version: 1,
      },
    });
  }
}

/** What no path of the API matches. */
const UNKNOWN = ["/{proxy+}", "/api/{proxy+}", `${BASE_PATH}/{proxy+}`];

/** A path, and all that it is below: `/`, `/api`, `/api/v1`. */
const withParents = (path: string): string[] => {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/") || "/");
};

function acknowledgeRest(rest: SpecRestApi): void {
  Validations.of(rest).acknowledge(
    {
      id: "AwsSolutions-APIG2",
      reason: "Functions check every request against the route's schema, so that the error names each invalid field",
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

/** No header and no body: both may hold secrets. */
export const ACCESS_LOG = {
  request_id: "$context.authorizer.request_id",
  gateway_request_id: "$context.requestId",
  ip: "$context.authorizer.ip_address",
  edge_ip: "$context.identity.sourceIp",
  user_agent: "$context.identity.userAgent",
  time: "$context.requestTimeEpoch",
  method: "$context.httpMethod",
  resource: "$context.resourcePath", // not the path, in which a deploy hook has its secret
  status: "$context.status",
  gateway_error: "$context.error.responseType",
  latency_ms: "$context.responseLatency",
  authorizer_ms: "$context.authorizer.latency",
  integration_ms: "$context.integration.latency",
  trace: "$context.xrayTraceId",
};
