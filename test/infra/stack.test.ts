// What a deployment creates, read from the synthesized templates of both environments.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { toGatewayMethod, toGatewayPath as pathOf, listRoutes } from "../../infra/api.ts";
import { synth } from "../../infra/app.ts";
import { ENTRIES } from "../../infra/bundle.ts";
import { endpointAccess } from "../../infra/endpoint-access.ts";
import { matches } from "../../infra/local/events/events.ts";
import { allows as iamAllows } from "../../infra/local/iam/iam.ts";
import { ACCOUNT, REGION } from "../../infra/local/template/resolve.ts";
import { readTemplate, type Template } from "../../infra/local/template/template.ts";
import { stackName } from "../../infra/settings.ts";
import { type Environment, ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { type Route, routes } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { machineVariable } from "../../shared/domain/workflow.ts";
import { allows, NEEDED, resourceOf } from "./deployment-policy.ts";
import { exceeded, largest, LIMITS, type Measured, measured } from "./limits.ts";
import { cycleIn, problemsOf, Resources } from "./schemas.ts";
import { scratch, stubBundles, stubDashboard } from "./stubs.ts";

/** What a route's function may do with the archives of backups. */
const STORAGE: Readonly<Partial<Record<string, readonly string[]>>> = {
  read: ["s3:GetObject"],
  upload: ["s3:AbortMultipartUpload", "s3:PutObject"],
  "list parts": ["s3:ListMultipartUploadParts"],
  "list and abort uploads": ["s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
};

const rawTemplate = z.object({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Properties: z.record(z.string(), z.json()).default({}),
      DeletionPolicy: z.string().optional(),
    }),
  ),
});
type Raw = z.infer<typeof rawTemplate>;

const SamplingRule = z.object({
  SamplingRule: z.looseObject({
    Priority: z.number(),
    URLPath: z.string(),
    FixedRate: z.number(),
    ServiceName: z.string(),
    ServiceType: z.string(),
  }),
});
const outdir = scratch();
const halfOutdir = scratch();
const built = { bundles: stubBundles(), dashboard: stubDashboard() };
const templates = new Map<Environment, Template>();
const raws = new Map<Environment, Raw>();
const stacks = new Map<Environment, Measured>();

beforeAll(async () => {
  await synth(outdir, ENVIRONMENTS, built);
  for (const environment of ENVIRONMENTS) {
    stacks.set(environment, measured(outdir, stackName(environment)));
    templates.set(environment, readTemplate(outdir, stackName(environment)));
    const text = readFileSync(join(outdir, `${stackName(environment)}.template.json`), "utf8");
    raws.set(environment, rawTemplate.parse(JSON.parse(text)));
  }
}, 300_000);

function of<T>(map: Map<Environment, T>, environment: Environment): T {
  const value = map.get(environment);
  if (value === undefined) throw new Error(`${environment} was not synthesized`);
  return value;
}

/** The resources of a type, with their properties. */
const resources = (environment: Environment, type: string) =>
  Object.values(of(raws, environment).Resources).filter(({ Type }) => Type === type);

function apiOf(environment: Environment) {
  const [api] = of(templates, environment).apis;
  if (api === undefined) throw new Error("The template has no API");
  return api;
}

function methodOf(environment: Environment, method: string, path: string) {
  const found = apiOf(environment)
    .resources.find((each) => each.path === path)
    ?.methods.find(({ httpMethod }) => httpMethod === method);
  if (found === undefined) throw new Error(`The API has no ${method} ${path}`);
  return found;
}

function functionOf(environment: Environment, route: Route) {
  const { functionArn } = methodOf(environment, toGatewayMethod(route), pathOf(route));
  const found = of(templates, environment).functions.find(({ arn }) => arn === functionArn);
  if (found === undefined) throw new Error(`${route.id} calls no function of the template`);
  return found;
}

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const statement = z.object({ Effect: z.literal("Allow"), Action: oneOrMore, Resource: oneOrMore });

const Statement = z.looseObject({ Effect: z.string(), Principal: z.json().optional(), Condition: z.json().optional() });

/** The statements of all policies in a resource's properties. */
function statementsIn(value: z.core.util.JSONType): z.infer<typeof Statement>[] {
  if (typeof value !== "object" || value === null) return [];
  const parsed = Statement.safeParse(value);
  return [...(parsed.success ? [parsed.data] : []), ...Object.values(value).flatMap(statementsIn)];
}

const namesService = (principal: unknown): boolean => z.looseObject({ Service: z.json() }).safeParse(principal).success;

/** How often schedules run in a month of 30 days. */
function runsOfSchedules(environment: Environment): number {
  const rates = resources(environment, "AWS::Events::Rule").flatMap(({ Properties }) => Properties["ScheduleExpression"] ?? []);
  const minutes = rates.map((rate) => {
    const [, count = "", unit] = /^rate\((\d+) (minute|hour)s?\)$/.exec(z.string().parse(rate)) ?? [];
    return Number(count) * (unit === "hour" ? 60 : 1);
  });
  return minutes.reduce((sum, each) => sum + (30 * 24 * 60) / each, 0);
}

/** A role's permissions, as `action resource` pairs. */
function grantsOf(environment: Environment, roleArn: string): string[] {
  const role = of(templates, environment).roles.find(({ arn }) => arn === roleArn);
  const statements = role?.policies.flatMap((policy) => policy.Statement.map((each) => statement.parse(each))) ?? [];
  return statements.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => Resource.map((resource) => `${action} ${resource}`)),
  );
}

const actionsOf = (grants: string[], service: string): string[] =>
  [...new Set(grants.map((grant) => grant.split(" ")[0] ?? "").filter((action) => action.startsWith(`${service}:`)))].toSorted();

const READS = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"];
const WRITES = [
  ...READS,
  "dynamodb:ConditionCheckItem",
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
].toSorted();

describe.each(ENVIRONMENTS)("the stack of %s", (environment) => {
  it("the stack satisfies CloudFormation's own schemas and has no circular references", () => {
    const { Resources: all } = of(raws, environment);
    expect(problemsOf(Resources.parse(all))).toEqual([]);
    expect(cycleIn(Resources.parse(all))).toBeUndefined();
  });

  it("the stack is near none of AWS's limits", () => {
    const stack = of(stacks, environment);
    expect(exceeded(LIMITS, stack)).toEqual([]);
    // A limit with nothing to measure would never be exceeded.
    expect(LIMITS.filter((limit) => largest(limit, stack) === undefined).map(({ name }) => name)).toEqual([]);
  });

  it("API Gateway may invoke the API's functions and its authorizer, by one role, and no other function", async () => {
    const { roles, functions } = of(templates, environment);
    const { resources: paths, authorizers } = apiOf(environment);
    const invoked = [...paths.flatMap(({ methods }) => methods), ...authorizers];
    const [arn, ...others] = new Set(invoked.map(({ role }) => role));
    expect(others).toEqual([]);
    const policies = roles.find((role) => role.arn === arn)?.policies ?? [];
    const invocable = await Promise.all(
      functions.map(async (each) =>
        (await iamAllows(policies, ACCOUNT, { action: "lambda:InvokeFunction", resource: each.arn })) ? [each.arn] : [],
      ),
    );
    expect(invocable.flat().toSorted()).toEqual([...new Set(invoked.map(({ functionArn }) => functionArn))].toSorted());
  });

  it("every route has a method with its own function", () => {
    const names = listRoutes(environment).map((route) => functionOf(environment, route).directory ?? "");
    expect(new Set(names).size).toBe(listRoutes(environment).length);
    for (const [index, route] of listRoutes(environment).entries()) {
      expect(readFileSync(join(names[index] ?? "", "index.mjs"), "utf8")).toContain(`"${route.id}"`);
    }
  });

  it("the API has no methods except the routes and the fallback", () => {
    const methods = apiOf(environment).resources.flatMap(({ path, methods }) =>
      methods.map(({ httpMethod }) => `${httpMethod} ${path}`),
    );
    const routes = listRoutes(environment).map((route) => `${toGatewayMethod(route)} ${pathOf(route)}`);
    const fallbacks = apiOf(environment).resources.flatMap((resource) =>
      routes.includes(`ANY ${resource.path}`) ? [] : [`ANY ${resource.path}`],
    );
    expect(methods.toSorted()).toEqual([...routes, ...fallbacks].toSorted());
  });

  it("every path returns its own 404 and 405: from the fallback, which needs no credential, or from the function of its GET", () => {
    const gets = new Set(listRoutes(environment).flatMap((route) => (route.method === "GET" ? [pathOf(route)] : [])));
    for (const { path } of apiOf(environment).resources) {
      if (gets.has(path)) continue;
      const { authorizer, functionArn } = methodOf(environment, "ANY", path);
      expect({ path, authorizer }).toEqual({ path, authorizer: undefined });
      expect(functionArn).toContain("fallback");
    }
    for (const base of ["", "/api", BASE_PATH])
      expect(methodOf(environment, "ANY", `${base}/{proxy+}`).functionArn).toContain("fallback");
  });

  it("every request to a route that is not public goes to the authorizer, whatever its headers", () => {
    // That nothing is cached, and no header demanded, is all that the local reader accepts.
    const [{ name } = { name: "" }] = apiOf(environment).authorizers;
    for (const route of listRoutes(environment)) {
      const { authorizer } = methodOf(environment, toGatewayMethod(route), pathOf(route));
      expect({ route: route.id, authorizer }).toEqual({
        route: route.id,
        authorizer: route.access === "public" ? undefined : name,
      });
    }
  });

  it("every route's function may do what infra/endpoint-access.ts says, and nothing else", () => {
    const { tables, machines, secrets, buckets } = of(templates, environment);
    const names = new Map([...tables, ...secrets, ...buckets].map(({ arn, logicalId }) => [arn, logicalId]));
    const machineArn = (name: string) => machines.find((machine) => machine.name === `${stackName(environment)}-${name}`)?.arn;
    for (const route of listRoutes(environment)) {
      const { role, environment: variables } = functionOf(environment, route);
      const access = endpointAccess(route);
      const grants = grantsOf(environment, role);
      const keys = grants.filter((grant) => grant.startsWith("secretsmanager:"));
      expect({
        route: route.id,
        table: actionsOf(grants, "dynamodb"),
        starts: grants.filter((grant) => grant.startsWith("states:")).toSorted(),
        given: route.starts.map((name) => variables[machineVariable(name)]),
        keys: keys.map((grant) => names.get(grant.split(" ")[1] ?? "")),
        givenKeys: access.keys?.map((key) => `secretsmanager:GetSecretValue ${variables[`${key.toUpperCase()}_KEY`]}`),
        storage: actionsOf(grants, "s3"),
        givenBucket: "BACKUP_BUCKET" in variables,
      }).toEqual({
        route: route.id,
        table: access.table === undefined ? [] : access.table === "write" ? WRITES : READS,
        starts: route.starts.map((name) => `states:StartExecution ${machineArn(name)}`).toSorted(),
        given: route.starts.map(machineArn),
        keys: access.keys?.map((key): unknown => expect.stringContaining(key)),
        givenKeys: keys,
        storage: access.storage === undefined ? [] : STORAGE[access.storage],
        givenBucket: access.storage !== undefined,
      });
    }
  });

  it("a GET may write only to record a download or a reading of logs, and to free the slot of a wait", () => {
    const writing = listRoutes(environment).filter((route) => route.method === "GET" && endpointAccess(route).table === "write");
    expect(writing.map(({ id }) => id).toSorted()).toEqual([
      "backups.download",
      "instances.logs",
      "operations.get",
      "operations.log",
    ]);
  });

  it("the authorizer may write to the table and read the session key, and nothing else", () => {
    const authorizer = apiOf(environment).authorizers[0];
    const { role = "" } = of(templates, environment).functions.find(({ arn }) => arn === authorizer?.functionArn) ?? {};
    const services = grantsOf(environment, role).filter((grant) => !/^(logs|xray):/.test(grant));
    expect(services).toHaveLength(2);
    expect(services[0]).toMatch(/^dynamodb:UpdateItem \S+$/);
    expect(services[1]).toMatch(/^secretsmanager:GetSecretValue \S+session\S+$/);
  });

  it("every policy names its resources, except where AWS has no names", () => {
    const nameless = of(templates, environment).roles.flatMap(({ arn }) =>
      grantsOf(environment, arn).filter((grant) => grant.endsWith(" *")),
    );
    expect(nameless.filter((grant) => !/^(xray:|logs:|dynamodb:ListStreams )/.test(grant))).toEqual([]);
  });

  it("what the stack grants to a service, the service may use for this account only", () => {
    const grants = Object.entries(of(raws, environment).Resources).flatMap(([id, { Properties }]) =>
      statementsIn(Properties)
        .filter(
          ({ Effect, Principal, Condition }) =>
            Effect === "Allow" && namesService(Principal) && !/"aws:Source(Account|Arn)"/i.test(JSON.stringify(Condition ?? "")),
        )
        .map(() => id),
    );
    // AWS does not document that API Gateway names the account; the others are the CDK's own functions.
    const exceptions = [/^apiinvoke/, /^apigatewayCloudWatchRole/, /^CustomS3AutoDelete/, /^CustomCDKBucketDeployment/];
    expect(grants.filter((id) => !exceptions.some((other) => other.test(id)))).toEqual([]);
    expect(grants).toHaveLength(exceptions.length);
  });

  it("access logs have a path's template alone, and a deploy hook is never traced: its path has its secret", () => {
    const stages = resources(environment, "AWS::ApiGateway::Stage").map(({ Properties }) => JSON.stringify(Properties));
    expect(stages).toHaveLength(1);
    expect(stages[0]).toContain("$context.resourcePath");
    expect(stages[0]).not.toMatch(/\$context\.(?:path|requestOverride|customDomain)|\$request|\$input/);
    const rules = resources(environment, "AWS::XRay::SamplingRule")
      .map(({ Properties }) => SamplingRule.parse(Properties).SamplingRule)
      .toSorted((one, other) => one.Priority - other.Priority);
    const ruleOf = (path: string) =>
      rules.find(({ URLPath }) => new RegExp(`^${URLPath.replaceAll("*", ".*")}$`).test(`/${environment}${BASE_PATH}${path}`));
    const hook = ruleOf(`/hooks/deploys/${"s".repeat(32)}`);
    expect(hook).toMatchObject({ FixedRate: 0, ReservoirSize: 0, HTTPMethod: "*", Host: "*", ResourceARN: "*" });
    const other = ruleOf("/instances");
    expect(other?.FixedRate).toBeGreaterThan(0);
    expect([hook?.ServiceName, hook?.ServiceType]).toEqual([other?.ServiceName, other?.ServiceType]);
  });

  it("the share of requests with 401 counts lines of the access log, and only if there are many", () => {
    const alarm = resources(environment, "AWS::CloudWatch::Alarm").find(({ Properties }) =>
      z.string().parse(Properties["AlarmName"]).endsWith("requests rejected"),
    );
    expect(alarm?.Properties["Metrics"]).toContainEqual(
      expect.objectContaining({ Expression: "IF(FILL(requests, 0) >= 200, 100 * FILL(rejected, 0) / FILL(requests, 1), 0)" }),
    );
    const [access] = resources(environment, "AWS::ApiGateway::Stage").map(({ Properties }) =>
      JSON.stringify(Properties["AccessLogSetting"]),
    );
    const filters = resources(environment, "AWS::Logs::MetricFilter").filter(({ Properties }) =>
      access?.includes(JSON.stringify(z.object({ Ref: z.string() }).parse(Properties["LogGroupName"]).Ref)),
    );
    expect(filters).toMatchObject([{ Properties: { FilterPattern: '{ $.status = "401" }' } }]);
    expect(access).toContain(String.raw`\"status\":\"$context.status\"`);
  });

  it("every function runs on the newest Node.js on ARM, with log retention, and is traced if a request or an execution calls it", () => {
    const functions = Object.entries(of(raws, environment).Resources).filter(([, { Type }]) => Type === "AWS::Lambda::Function");
    const ours = functions.filter(([id]) => !/^Custom(CDKBucketDeployment|S3AutoDelete)/.test(id));
    expect(functions.length - ours.length).toBe(2);
    for (const [id, { Properties }] of ours) {
      expect(Properties).toMatchObject({ Runtime: "nodejs24.x", Architectures: ["arm64"] });
      expect({ id, traced: "TracingConfig" in Properties }).toEqual({ id, traced: !id.startsWith("schedules") });
      expect(Properties).toHaveProperty("LoggingConfig.LogGroup");
    }
    for (const { Properties } of resources(environment, "AWS::Logs::LogGroup"))
      expect(Properties).toHaveProperty("RetentionInDays");
  });

  it("every function has a bundle, and every bundle of the environment has a function", () => {
    const bundled = of(templates, environment).functions.flatMap(({ directory, logicalId }) =>
      directory === undefined || logicalId.startsWith("CustomS3AutoDelete")
        ? []
        : [readFileSync(join(directory, "index.mjs"), "utf8")],
    );
    const here = new Set(listRoutes(environment).map(({ id }) => id));
    const elsewhere = environment === "test" ? ["schedules.refresh-catalog"] : [];
    const expected = Object.keys(ENTRIES)
      .filter((id) => here.has(id) || !listRoutes("test").some((route) => route.id === id))
      .filter((id) => !elsewhere.includes(id));
    expect(bundled.flatMap((text) => /"(.*)"/.exec(text)?.[1] ?? []).toSorted()).toEqual(expected.toSorted());
  });

  it("the gateway's own errors are in the envelope", () => {
    const envelope = z.strictObject({
      success: z.literal(false),
      error: z.strictObject({ code: z.string(), message: z.string() }),
    });
    const responses = new Map(apiOf(environment).gatewayResponses.map((each) => [each.type, each]));
    for (const [type, { responseTemplates, responseParameters, statusCode }] of responses) {
      envelope.parse(JSON.parse(responseTemplates["application/json"] ?? ""));
      expect({ type, headers: Object.keys(responseParameters) }).toEqual({
        type,
        headers: expect.arrayContaining(["gatewayresponse.header.X-Request-ID"]),
      });
      expect(responseParameters, type).toMatchObject({
        "gatewayresponse.header.Cache-Control": "'no-store'",
        "gatewayresponse.header.X-Content-Type-Options": "'nosniff'",
        ...(statusCode === 401 && { "gatewayresponse.header.WWW-Authenticate": "'Bearer'" }),
      });
    }
    // These include a throttled function: the gateway turns it into a 500, which DEFAULT_5XX covers.
    for (const [type, { statusCode, responseParameters }] of responses)
      expect({ type, retry: statusCode !== 503 || "gatewayresponse.header.Retry-After" in responseParameters }).toEqual({
        type,
        retry: true,
      });
    expect(responses.get("ACCESS_DENIED")).toMatchObject({
      statusCode: 401,
      responseParameters: { "gatewayresponse.header.X-Request-ID": "context.authorizer.request_id" },
      responseTemplates: {
        "application/json":
          '{"success":false,"error":{"code":"UNAUTHORIZED","message":"Invalid or missing authentication token"}}',
      },
    });
    expect([...responses].map(([type, { statusCode }]) => `${type} ${statusCode ?? "as it is"}`)).toEqual(
      expect.arrayContaining([
        "DEFAULT_4XX as it is",
        "DEFAULT_5XX 503",
        "AUTHORIZER_FAILURE 503",
        "THROTTLED 503",
        "REQUEST_TOO_LARGE 413",
      ]),
    );
  });

  it("the access log has no headers, bodies or credentials", () => {
    const format = JSON.stringify(resources(environment, "AWS::ApiGateway::Stage")[0]?.Properties["AccessLogSetting"]);
    expect(format).toContain("$context.requestId");
    expect(format).not.toMatch(/authorization|header|body|caller/i);
  });

  it("customers' data is retained in live, and backups are private", () => {
    const live = environment === "live";
    const [table] = resources(environment, "AWS::DynamoDB::GlobalTable");
    expect(table?.Properties).toMatchObject({
      BillingMode: "PAY_PER_REQUEST",
      TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true },
      // The table is not protected during the creation: a rollback could not remove it (test/infra/options.all.test.ts tests the
      // protection).
      Replicas: [{ DeletionProtectionEnabled: false, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
    });
    for (const [id, { Type, DeletionPolicy = "Delete" }] of Object.entries(of(raws, environment).Resources)) {
      const holdsData = /^AWS::(DynamoDB::GlobalTable|S3::Bucket|SecretsManager::Secret|Logs::LogGroup)$/.test(Type);
      if (!holdsData || /^(dashboardfiles|originkey)/.test(id)) continue;
      // What a failed creation leaves behind would block the next one.
      expect({ id, DeletionPolicy }).toEqual({ id, DeletionPolicy: live ? "RetainExceptOnCreate" : "Delete" });
    }
    for (const { Properties } of resources(environment, "AWS::S3::Bucket")) {
      expect(Properties).toHaveProperty("BucketEncryption");
      expect(Object.values(z.record(z.string(), z.boolean()).parse(Properties["PublicAccessBlockConfiguration"]))).toEqual([
        true,
        true,
        true,
        true,
      ]);
    }
  });

  it("buckets and tables that are deleted with the stack are emptied, and accept nothing meanwhile", () => {
    const emptied = resources(environment, "Custom::S3AutoDeleteObjects").map(({ Properties }) =>
      JSON.stringify(Properties["BucketName"]),
    );
    const removed = Object.entries(of(raws, environment).Resources)
      .filter(([, { Type, DeletionPolicy = "Delete" }]) => Type === "AWS::S3::Bucket" && DeletionPolicy === "Delete")
      .map(([id]) => JSON.stringify({ Ref: id }));
    expect(emptied.toSorted()).toEqual(removed.toSorted());
  });

  it("names that all regions of an account share, as CloudFront's and those of budgets, contain the region", () => {
    for (const { Properties } of resources(environment, "AWS::Budgets::Budget"))
      expect(JSON.stringify(Properties["Budget"])).toMatch(/"BudgetName":\{[^}]*\{"Ref":"AWS::Region"\}/);

    const names = [
      ...resources(environment, "AWS::CloudFront::ResponseHeadersPolicy").map(
        ({ Properties }) => Properties["ResponseHeadersPolicyConfig"],
      ),
      ...resources(environment, "AWS::CloudFront::OriginAccessControl").map(
        ({ Properties }) => Properties["OriginAccessControlConfig"],
      ),
      ...resources(environment, "AWS::CloudFront::Function").map(({ Properties }) => Properties),
    ].map((each) => JSON.stringify(z.looseObject({ Name: z.json() }).parse(each).Name));
    expect(names).toHaveLength(5);
    for (const name of names) expect(name).toContain('{"Ref":"AWS::Region"}');
  });

  it("every alarm's description has its impact and a link to the remedy", () => {
    for (const { Properties } of resources(environment, "AWS::CloudWatch::Alarm")) {
      expect(Properties["AlarmDescription"]).toMatch(/^[A-Z].{20,}\. What to do: docs\/operations\.md#[a-z-]+$/);
      expect(Properties["AlarmActions"]).toHaveLength(1);
    }
  });

  it("a schedule that does not run at all is a zero, not a missing value, for which CloudWatch would wait several periods more", () => {
    const silent = resources(environment, "AWS::CloudWatch::Alarm").filter(({ Properties }) =>
      z.string().parse(Properties["AlarmName"]).endsWith(" silent"),
    );
    expect(silent).toHaveLength(environment === "live" ? 7 : 6);
    for (const { Properties } of silent)
      expect(Properties["Metrics"]).toContainEqual(expect.objectContaining({ Expression: "FILL(runs, 0) - FILL(errors, 0)" }));
  });

  it("no alarm counts the errors of a workflow's tasks, because a poll retries by throwing one", () => {
    const watched = resources(environment, "AWS::CloudWatch::Alarm").filter(({ Properties }) =>
      /"FunctionName","Value":\{"Ref":"[^"]*tasks/.test(JSON.stringify(Properties)),
    );
    expect(watched).toEqual([]);
  });

  it("the idle stack costs what docs/deploy.md says", () => {
    const metrics = resources(environment, "AWS::CloudWatch::Alarm").flatMap(({ Properties }) =>
      z
        .array(z.looseObject({ MetricStat: z.json().optional() }))
        .default([{ MetricStat: {} }])
        .parse(Properties["Metrics"]),
    );
    const alarms = metrics.filter(({ MetricStat }) => MetricStat !== undefined).length;
    const secrets = resources(environment, "AWS::SecretsManager::Secret").length;
    const guide = readFileSync(join(import.meta.dirname, "../../docs/deploy.md"), "utf8");
    expect(guide).toMatch(new RegExp(`${alarms}( metrics)? in \`${environment}\``));
    expect(guide).toMatch(new RegExp(`0\\.40 each: .*${secrets} in \`${environment}\``));
    expect(resources(environment, "AWS::KMS::Key")).toHaveLength(1);
    expect(guide).toContain(` ${runsOfSchedules(environment).toLocaleString("en-US")}`);
    const [, rows = ""] = /\*\*An environment that nobody uses([^]*?)\n\*\*/.exec(guide) ?? [];
    const costs = [...rows.matchAll(/\| +(\d+\.\d\d) +\| +(\d+\.\d\d) +\|$/gm)].map(([, test, live]) => ({ test, live }));
    expect(costs).toHaveLength(7);
    const sum = costs.reduce((all, each) => all + Number(each[environment]), 0);
    expect(rows).toMatch(new RegExp(`${sum.toFixed(1)}0( a month)? for \`${environment}\``));
  });

  it("docs/deploy.md names what a removed stack leaves behind under a name that the next one needs", () => {
    const retained = Object.values(of(raws, environment).Resources).filter(({ DeletionPolicy = "" }) =>
      DeletionPolicy.startsWith("Retain"),
    );
    const fixed = retained.flatMap(({ Properties }) =>
      ["TableName", "LogGroupName", "BucketName", "Name", "RoleName"].flatMap((name) =>
        typeof Properties[name] === "string" ? [Properties[name]] : [],
      ),
    );
    expect(fixed).toHaveLength(environment === "live" ? 2 : 0);
    const guide = readFileSync(join(import.meta.dirname, "../../docs/deploy.md"), "utf8");
    const [, removing = ""] = /\n## Removing an environment\n([^]*?)\n## /.exec(guide) ?? [];
    for (const name of fixed) expect(removing).toContain(`-name ${name}\n`);
  });

  it("some requests are traced, and nothing that runs on a schedule", () => {
    const [sampling] = resources(environment, "AWS::XRay::SamplingRule");
    expect(sampling?.Properties["SamplingRule"]).toMatchObject({
      ServiceName: `${stackName(environment)}/${environment}`,
      ServiceType: "AWS::ApiGateway::Stage",
      FixedRate: 0.05,
      ReservoirSize: 0,
    });
  });

  it("the narrowed deployment policy allows everything in the stack", () => {
    const types = [...new Set(Object.values(of(raws, environment).Resources).map(({ Type }) => Type))];
    expect(types.filter((type) => NEEDED[type] === undefined)).toEqual([]);
    const denied = types.flatMap((type) =>
      (NEEDED[type] ?? []).filter((action) => !allows(action, resourceOf(action))).map((action) => `${type}: ${action}`),
    );
    expect(denied).toEqual([]);
  });

  it("every alarm has an entry in docs/operations.md", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
    const anchors = [...guide.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    for (const { Properties } of resources(environment, "AWS::CloudWatch::Alarm")) {
      expect(anchors).toContain(z.string().parse(Properties["AlarmDescription"]).split("#")[1]);
    }
  });

  it("the state machines use only what both the local interpreter and AWS support", () => {
    for (const { definition } of of(templates, environment).machines) {
      expect(JSON.stringify(definition)).not.toMatch(/JSONata|"Assign"|"Arguments"|"Output"|waitForTaskToken/);
    }
  });

  it("Lambda puts failed rescue events in a queue", () => {
    const rescue = of(templates, environment).functions.find(({ directory = "" }) => directory.endsWith("rescue"));
    expect(actionsOf(grantsOf(environment, rescue?.role ?? ""), "sqs")).toEqual(["sqs:SendMessage"]);
    const destinations = resources(environment, "AWS::Lambda::EventInvokeConfig").flatMap(
      ({ Properties }) => Properties["DestinationConfig"] ?? [],
    );
    expect(destinations).toEqual([
      { OnFailure: { Destination: expect.objectContaining({ "Fn::GetAtt": [expect.stringContaining("unrescued"), "Arn"] }) } },
    ]);
  });

  it("every state machine's executions are rescued, however they die", () => {
    const { rules, machines } = of(templates, environment);
    const rescue = rules.find(({ pattern }) => pattern !== undefined);
    const died = (stateMachineArn: string, status = "FAILED") =>
      matches(rescue?.pattern ?? {}, {
        source: "aws.states",
        "detail-type": "Step Functions Execution Status Change",
        detail: { status, stateMachineArn },
      });
    for (const { arn } of machines) {
      for (const status of ["FAILED", "TIMED_OUT", "ABORTED"])
        expect({ arn, died: died(arn, status) }).toEqual({ arn, died: true });
      for (const status of ["SUCCEEDED", "RUNNING"]) expect({ arn, died: died(arn, status) }).toEqual({ arn, died: false });
    }
    for (const other of ENVIRONMENTS.filter((each) => each !== environment))
      expect(of(templates, other).machines.filter(({ arn }) => died(arn))).toEqual([]);
  });
});

/** The test environment's resources if every second route did not exist. */
async function withHalfOfTheRoutes(): Promise<Raw["Resources"]> {
  vi.resetModules();
  vi.doMock(import("../../shared/api/index.ts"), async (original) => {
    const api = await original();
    return { ...api, routes: api.routes.filter((_, index) => index % 2 === 0) };
  });
  const { synth: synthHalf } = await import("../../infra/app.ts");
  await synthHalf(halfOutdir, ["test"], { ...built, checked: false });
  return rawTemplate.parse(JSON.parse(readFileSync(join(halfOutdir, `${stackName("test")}.template.json`), "utf8"))).Resources;
}

it("an endpoint costs 1.5 resources on average, and the API is deployed anew whenever it changes", async () => {
  const all = of(raws, "test").Resources;
  const half = await withHalfOfTheRoutes();
  const cost = (Object.keys(all).length - Object.keys(half).length) / Math.floor(routes.length / 2);
  expect(cost).toBeGreaterThan(1);
  expect(cost).toBeLessThanOrEqual(1.5);
  const deploymentOf = (resources: Raw["Resources"]) =>
    Object.keys(resources).filter((id) => resources[id]?.Type === "AWS::ApiGateway::Deployment");
  expect(deploymentOf(half)).toHaveLength(1);
  expect(deploymentOf(half)).not.toEqual(deploymentOf(all));
});

it.each(LIMITS)("a stack that comes near the limit of $name is reported in a sentence", (limit) => {
  const stack = of(stacks, "live");
  const [subject = "", used = 0] = largest(limit, stack) ?? [];
  const sentence = `${limit.name}: ${subject} has ${used} of ${limit.max} ${limit.unit}. ${limit.remedy}`;
  expect(exceeded([{ ...limit, near: used - 1 }], stack)).toContain(sentence);
  expect(exceeded([{ ...limit, near: used }], stack)).toEqual([]);
});

it("a rule that names every state machine is reported before AWS rejects it", () => {
  const arns = Array.from(
    { length: 20 },
    (_, index) => `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:ErpControlPlane-live-${index}`,
  );
  const EventPattern = { source: ["aws.states"], detail: { stateMachineArn: arns } };
  const template = { Description: "", Resources: { rescue: { Type: "AWS::Events::Rule", Properties: { EventPattern } } } };
  writeFileSync(join(halfOutdir, "Many.template.json"), JSON.stringify(template));
  expect(exceeded(LIMITS, measured(halfOutdir, "Many"))).toEqual([
    expect.stringMatching(/^Event pattern: rescue has 1\d{3} of 2048 bytes\. Match names by a prefix$/),
  ]);
});

it("the stacks satisfy cdk-nag, which fails the synthesis otherwise", () => {
  const report = z.looseObject({ pluginReports: z.array(z.json()) });
  expect(report.parse(JSON.parse(readFileSync(join(outdir, "validation-report.json"), "utf8"))).pluginReports).toEqual([]);
});

it("the deployment policy touches only the stacks' roles", () => {
  expect(allows("iam:PutRolePolicy", `arn:aws:iam::${ACCOUNT}:role/Administrator`)).toBe(false);
});

it("only the test environment has the sandbox", () => {
  const having = ENVIRONMENTS.filter((environment) => apiOf(environment).resources.some(({ path }) => path.includes("sandbox")));
  expect(having).toEqual(["test"]);
});

describe("the checks of a template", () => {
  const role = { Type: "AWS::IAM::Role", Properties: { AssumeRolePolicyDocument: {} } };
  it.each([
    [{ Type: "AWS::IAM::Roll" }, "AWS has no AWS::IAM::Roll"],
    [{ Type: "AWS::IAM::Role" }, "lacks AssumeRolePolicyDocument"],
    [{ ...role, Properties: { ...role.Properties, Polices: [] } }, "has no property Polices"],
    [{ ...role, Properties: { ...role.Properties, MaxSessionDuration: "long" } }, 'MaxSessionDuration is no integer: "long"'],
    [{ ...role, Properties: { ...role.Properties, Policies: [{ PolicyName: "p" }] } }, "Policies[0] lacks PolicyDocument"],
    [
      { Type: "AWS::Lambda::Alias", Properties: { Name: "a", FunctionName: 7, FunctionVersion: "1" } },
      "FunctionName is no string",
    ],
  ])("the template checks report what is wrong with %j", (resource, problem) => {
    expect(problemsOf(Resources.parse({ mine: resource }))).toEqual([expect.stringContaining(problem)]);
    expect(problemsOf(Resources.parse({ mine: role }))).toEqual([]);
  });

  it("the template checks find circular references of any kind", () => {
    const circle = (reference: object) =>
      cycleIn(
        Resources.parse({ a: { ...role, DependsOn: "b" }, b: { ...role, DependsOn: ["c"] }, c: { ...role, ...reference } }),
      );
    const by = (Description: unknown) => circle({ Properties: { Description } });
    for (const cycle of [
      circle({ DependsOn: "a" }),
      by({ Ref: "a" }),
      by({ "Fn::GetAtt": ["a", "Arn"] }),
      by({ "Fn::GetAtt": "a.Arn" }),
      by({ "Fn::Join": ["", ["x", { "Fn::Sub": "${AWS::Region} ${a.Arn}" }]] }),
      by({ "Fn::Sub": ["${own}", { own: { Ref: "a" } }] }),
    ])
      expect(cycle).toEqual(["a", "b", "c", "a"]);
    expect(by({ "Fn::Sub": "${AWS::Region}" })).toBeUndefined();
  });
});
