// What a deployment creates, read from the synthesized templates of both environments.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { listRoutes } from "../../infra/api.ts";
import { synth } from "../../infra/app.ts";
import { ENTRIES } from "../../infra/bundle.ts";
import { matches } from "../../infra/local/events/events.ts";
import { ACCOUNT, REGION } from "../../infra/local/template/resolve.ts";
import { stackName } from "../../infra/settings.ts";
import { type Environment, ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { routes } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { exceeded, largest, LIMITS, type Measured, measured } from "./limits.ts";
import { cycleIn, problemsOf, Resources } from "./schemas.ts";
import { scratch, stubBundles, stubDashboard } from "./stubs.ts";
import { actionsOf, apiOf, grantsOf, of, type Raw, raws, readRaw, readTemplates, resources, templates } from "./templates.ts";

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
const stacks = new Map<Environment, Measured>();

beforeAll(async () => {
  await synth(outdir, ENVIRONMENTS, built);
  readTemplates(outdir);
  for (const environment of ENVIRONMENTS) stacks.set(environment, measured(outdir, stackName(environment)));
});

/** How often schedules run in a month of 30 days. */
function runsOfSchedules(environment: Environment): number {
  const rates = resources(environment, "AWS::Events::Rule").flatMap(({ Properties }) => Properties["ScheduleExpression"] ?? []);
  const minutes = rates.map((rate) => {
    const [, count = "", unit] = /^rate\((\d+) (minute|hour)s?\)$/.exec(z.string().parse(rate)) ?? [];
    return Number(count) * (unit === "hour" ? 60 : 1);
  });
  return minutes.reduce((sum, each) => sum + (30 * 24 * 60) / each, 0);
}

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
  return readRaw(halfOutdir, "test").Resources;
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
