// The front, read from the synthesized templates: CloudFront, the dashboard's files, and the key between it and the API.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { listRoutes } from "../../infra/api.ts";
import { synth } from "../../infra/app.ts";
import { securityHeaders } from "../../infra/dashboard-headers.ts";
import { open, REGION, listResources as resolvedResources } from "../../infra/local/template/resolve.ts";
import { readTemplate } from "../../infra/local/template/template.ts";
import { SETTINGS, stackName } from "../../infra/settings.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { type Environment, ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { CLIENT_ADDRESS_HEADER, DASHBOARD_ORIGIN_HEADER, ORIGIN_KEY_HEADER, ORIGIN_KEYS } from "../../shared/runtime/origin.ts";
import { scratch, stubBundles, stubDashboard } from "./stubs.ts";

const Resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.json()).default({}),
  DependsOn: z.union([z.string(), z.array(z.string())]).optional(),
});
const Association = z.object({
  EventType: z.literal("viewer-request"),
  FunctionARN: z.object({ "Fn::GetAtt": z.array(z.string()) }),
});
const Behavior = z.object({
  PathPattern: z.string().optional(),
  AllowedMethods: z.array(z.string()).optional(),
  CachePolicyId: z.string(),
  OriginRequestPolicyId: z.string().optional(),
  ResponseHeadersPolicyId: z.json(),
  TargetOriginId: z.string(),
  ViewerProtocolPolicy: z.string(),
  FunctionAssociations: z.array(Association),
});
const Distribution = z.object({
  DefaultCacheBehavior: Behavior,
  CacheBehaviors: z.array(Behavior),
  CustomErrorResponses: z.array(z.record(z.string(), z.json())),
  IPV6Enabled: z.boolean(),
  Origins: z.array(
    z.looseObject({ Id: z.string(), OriginAccessControlId: z.json().optional(), OriginCustomHeaders: z.json().optional() }),
  ),
});

const outdir = scratch();
beforeAll(async () => {
  // What cdk-nag says of it is read where the stacks are tested.
  await synth(outdir, ENVIRONMENTS, { bundles: stubBundles(), dashboard: stubDashboard(), checked: false });
});

const textOf = (environment: Environment, folder = outdir): string =>
  readFileSync(join(folder, `${stackName(environment)}.template.json`), "utf8");
const Resources = z.object({ Resources: z.record(z.string(), Resource) });
/** The parsed resources by file: to parse one takes half a second. */
const parsed = new Map<string, z.infer<typeof Resources>["Resources"]>();
function listResources(environment: Environment, folder = outdir): z.infer<typeof Resources>["Resources"] {
  const file = `${folder} ${environment}`;
  const resources = parsed.get(file) ?? Resources.parse(JSON.parse(textOf(environment, folder))).Resources;
  parsed.set(file, resources);
  return resources;
}
const of = (environment: Environment, type: string) =>
  Object.values(listResources(environment)).filter(({ Type }) => Type === type);
/** Returns the resources of a type with all references resolved. */
const resolved = (environment: Environment, type: string) =>
  resolvedResources(open(outdir, stackName(environment))).filter((each) => each.type === type);

function archives(environment: Environment) {
  const found = resolved(environment, "AWS::S3::Bucket").find(({ properties }) => "CorsConfiguration" in properties);
  if (found === undefined) throw new Error("No bucket takes uploads");
  return found;
}

const frontOf = (environment: Environment) =>
  Distribution.parse(of(environment, "AWS::CloudFront::Distribution")[0]?.Properties["DistributionConfig"]);

function apiBehavior(environment: Environment) {
  const behavior = frontOf(environment).CacheBehaviors.at(-1);
  if (behavior === undefined) throw new Error("There is no behaviour beside the default");
  return behavior;
}

const Made = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.object({ value: z.string() })),
  body: z.string(),
});
interface ViewerRequest {
  uri: string;
  headers: Record<string, { value: string }>;
}

/** Runs a behavior's function as CloudFront does. */
function onRequest(environment: Environment, behavior: z.infer<typeof Behavior>, request: ViewerRequest): ViewerRequest {
  const Changed = z.object({ uri: z.string(), headers: z.record(z.string(), z.object({ value: z.string() })) });
  return Changed.parse(resultOf(environment, behavior, request));
}

const CONTEXT = { requestId: "made-by-cloudfront", distributionDomainName: "d111111abcdef8.cloudfront.net" };

function resultOf(environment: Environment, { FunctionAssociations }: z.infer<typeof Behavior>, request: ViewerRequest): unknown {
  const [id = ""] = FunctionAssociations[0]?.FunctionARN["Fn::GetAtt"] ?? [];
  const code = z.string().parse(listResources(environment)[id]?.Properties["FunctionCode"]);
  const event = { request: structuredClone(request), viewer: { ip: "2001:db8::7" }, context: CONTEXT };
  return runInNewContext(`${code}; handler(event)`, { event });
}

const Headers = z.object({
  SecurityHeadersConfig: z.object({
    ContentSecurityPolicy: z.object({ ContentSecurityPolicy: z.string(), Override: z.literal(true) }),
    ContentTypeOptions: z.object({ Override: z.literal(true) }),
    ReferrerPolicy: z.object({ ReferrerPolicy: z.string(), Override: z.literal(true) }),
    StrictTransportSecurity: z.object({ AccessControlMaxAgeSec: z.number(), Override: z.literal(true) }).loose(),
  }),
  CustomHeadersConfig: z.object({
    Items: z.array(z.object({ Header: z.string(), Value: z.string(), Override: z.literal(true) })),
  }),
});

describe.each(ENVIRONMENTS)("in front of %s", (environment) => {
  it("the archives' bucket and the dashboard's policy allow only each other", () => {
    const [distribution] = resolved(environment, "AWS::CloudFront::Distribution");
    expect(archives(environment).properties["CorsConfiguration"]).toEqual({
      CorsRules: [
        {
          AllowedOrigins: [`https://${distribution?.name}`],
          AllowedMethods: ["PUT"],
          AllowedHeaders: ["x-amz-checksum-sha256"],
          MaxAge: 3600,
        },
      ],
    });
  });

  it("every response has the headers that the local server sends, and requires HTTPS from then on", () => {
    const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } = Headers.parse(
      resolved(environment, "AWS::CloudFront::ResponseHeadersPolicy")[0]?.properties["ResponseHeadersPolicyConfig"],
    );
    expect({
      "content-security-policy": security.ContentSecurityPolicy.ContentSecurityPolicy,
      "referrer-policy": security.ReferrerPolicy.ReferrerPolicy,
      "x-content-type-options": "nosniff", // everything that its field can contain
      ...Object.fromEntries(custom.Items.map(({ Header, Value }) => [Header, Value])),
    }).toEqual(securityHeaders(`https://s3.${REGION}.amazonaws.com/${archives(environment).name}/`));
    expect(security.StrictTransportSecurity.AccessControlMaxAgeSec).toBeGreaterThanOrEqual(31_536_000);
    const { DefaultCacheBehavior: pages } = frontOf(environment);
    expect(apiBehavior(environment).ResponseHeadersPolicyId).toEqual(pages.ResponseHeadersPolicyId);
    expect(pages.ViewerProtocolPolicy).toBe("redirect-to-https");
    expect(apiBehavior(environment).ViewerProtocolPolicy).toBe("https-only");
    expect(frontOf(environment).IPV6Enabled).toBe(true);
  });

  it("the routes of sessions differ from the rest of the API in one header of their responses, which a 401 must have", () => {
    const [signIn, ...others] = frontOf(environment).CacheBehaviors;
    expect(others).toEqual([apiBehavior(environment)]);
    expect({
      ...signIn,
      PathPattern: "/api/*",
      ResponseHeadersPolicyId: apiBehavior(environment).ResponseHeadersPolicyId,
    }).toEqual(apiBehavior(environment));
    const { front } = readTemplate(outdir, stackName(environment));
    const [special, usual] = front?.behaviors ?? [];
    expect(special).toEqual({
      pattern: `${BASE_PATH}/auth/*`,
      headers: [...(usual?.headers ?? []), ["www-authenticate", "Bearer"]],
    });
  });

  it("no response of the API is cached or replaced by a page, not even an error", () => {
    // AWS's own policies: CachingDisabled and AllViewerExceptHostHeader.
    expect(apiBehavior(environment)).toMatchObject({
      PathPattern: "/api/*",
      CachePolicyId: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
      OriginRequestPolicyId: "b689b0a8-53d0-40ab-baf2-68738e2966ac",
    });
    expect(apiBehavior(environment).AllowedMethods?.toSorted()).toEqual([
      "DELETE",
      "GET",
      "HEAD",
      "OPTIONS",
      "PATCH",
      "POST",
      "PUT",
    ]);
    const errors = frontOf(environment).CustomErrorResponses;
    expect(errors.map(({ ErrorCode }) => ErrorCode)).toEqual(expect.arrayContaining([400, 403, 404, 405, 500, 502, 503, 504]));
    for (const error of errors) expect(error).toEqual({ ErrorCode: error["ErrorCode"], ErrorCachingMinTTL: 0 });
  });

  it.each([
    ["/", "/index.html"],
    ["/servers", "/index.html"],
    ["/servers/srv_01/", "/index.html"],
    ["/a.b/c", "/index.html"],
    ["/apis", "/index.html"],
    ["/index.html", "/index.html"],
    ["/config.json", "/config.json"],
    ["/assets/index-1.js", "/assets/index-1.js"],
    ["/assets/gone.js", "/assets/gone.js"],
  ])("the path %s shows %s", (uri, expected) => {
    expect(onRequest(environment, frontOf(environment).DefaultCacheBehavior, { uri, headers: {} }).uri).toBe(expected);
  });

  it.each(["/api", "/API/v1", "/Api/v1/servers", "/aPI/v1/openapi.json"])(
    "the path %s is a 404 in the envelope, not a page",
    (uri) => {
      const response = (headers: ViewerRequest["headers"]) =>
        Made.parse(resultOf(environment, frontOf(environment).DefaultCacheBehavior, { uri, headers }));
      const notFound = response({});
      expect(notFound).toMatchObject({
        statusCode: 404,
        headers: { "content-type": { value: "application/json" }, "cache-control": { value: "no-store" } },
      });
      expect(JSON.parse(notFound.body)).toEqual({ success: false, error: { code: "NOT_FOUND", message: "No such path" } });
      expect(notFound.headers["x-request-id"]?.value).toBe("made-by-cloudfront");
      expect(response({ "x-request-id": { value: "mine" } }).headers["x-request-id"]?.value).toBe("mine");
      expect(response({ "x-request-id": { value: "not mine" } }).headers["x-request-id"]?.value).toBe("made-by-cloudfront");
    },
  );

  it("CloudFront tells the API the client's IP address and where the dashboard is, whatever the client sends", () => {
    const request = {
      uri: "/api/v1/servers",
      headers: {
        [CLIENT_ADDRESS_HEADER]: { value: "192.0.2.1" },
        [DASHBOARD_ORIGIN_HEADER]: { value: "https://evil.example" },
        host: { value: "evil.example" },
      },
    };
    expect(onRequest(environment, apiBehavior(environment), request)).toEqual({
      uri: "/api/v1/servers",
      headers: {
        [CLIENT_ADDRESS_HEADER]: { value: "2001:db8::7" },
        [DASHBOARD_ORIGIN_HEADER]: { value: `https://${CONTEXT.distributionDomainName}` },
        host: { value: "evil.example" },
      },
    });
  });

  it("only CloudFront can read the bucket, and only from this distribution", () => {
    const { Origins, DefaultCacheBehavior } = frontOf(environment);
    const files = Origins.find(({ Id }) => Id === DefaultCacheBehavior.TargetOriginId);
    expect(files?.OriginAccessControlId).toBeDefined();
    const allowed = of(environment, "AWS::S3::BucketPolicy").flatMap(({ Properties }) =>
      z
        .object({
          Statement: z.array(
            z.looseObject({ Effect: z.string(), Principal: z.json(), Action: z.json(), Condition: z.json().optional() }),
          ),
        })
        .parse(Properties["PolicyDocument"])
        .Statement.filter(({ Principal }) => JSON.stringify(Principal).includes("cloudfront")),
    );
    expect(allowed).toEqual([
      expect.objectContaining({
        Effect: "Allow",
        Action: "s3:GetObject",
        Condition: { StringEquals: { "AWS:SourceArn": expect.objectContaining({}) } },
      }),
    ]);
  });

  it("assets are uploaded before the page that names them; hashed names are cached for ever and others are not", () => {
    const deployments = Object.entries(listResources(environment)).filter(
      ([, { Type }]) => Type === "Custom::CDKBucketDeployment",
    );
    expect(deployments).toHaveLength(2);
    const [assets, page] = deployments;
    expect(assets?.[1].Properties).toMatchObject({
      Include: ["assets/*"],
      Exclude: ["*"],
      Prune: false,
      SystemMetadata: { "cache-control": "public, max-age=31536000, immutable" },
    });
    expect(page?.[1].Properties).toMatchObject({
      Exclude: ["assets/*"],
      Prune: false,
      SystemMetadata: { "cache-control": "no-cache" },
    });
    expect([page?.[1].DependsOn].flat()).toContain(assets?.[0]);
  });

  it("the dashboard gets its environment from its configuration", () => {
    const Sources = z.object({ SourceObjectKeys: z.array(z.string()) });
    const paths = of(environment, "Custom::CDKBucketDeployment")
      .flatMap(({ Properties }) => Sources.parse(Properties).SourceObjectKeys)
      .map((key) => join(outdir, `asset.${key.replace(/\.zip$/, "")}`, "config.json"))
      .filter((path) => existsSync(path));
    const configs = paths.map((path): unknown => JSON.parse(readFileSync(path, "utf8")));
    expect(configs).toEqual([{ environment, other_dashboard: null, api_page: null, brand: null }]);
  });

  it("CloudFront sends the origin key to the API, and the template does not contain it", () => {
    const headers = frontOf(environment).Origins.flatMap(({ OriginCustomHeaders }) => OriginCustomHeaders ?? []);
    expect(headers).toEqual([{ HeaderName: ORIGIN_KEY_HEADER, HeaderValue: expect.objectContaining({}) }]);
    expect(JSON.stringify(headers)).toMatch(/\{\{resolve:secretsmanager:.*:SecretString:::\}\}/);
  });

  it("every function that requests reach first has the origin key, and no other function has it", () => {
    const { functions, front } = readTemplate(outdir, stackName(environment));
    const open = [
      ...listRoutes(environment)
        .filter(({ access }) => access === "public")
        .map(({ id }) => id),
      "authorize",
      "fallback",
    ];
    const knowing = functions.filter(({ environment: variables }) => ORIGIN_KEYS in variables);
    expect(knowing.map(({ directory = "" }) => bundleOf(directory)).toSorted()).toEqual(open.toSorted());
    for (const { environment: variables } of knowing)
      expect(variables[ORIGIN_KEYS]).toBe(front?.requestHeaders[ORIGIN_KEY_HEADER]);
    // CloudFront sends the new key only when the functions accept it.
    const [distribution] = of(environment, "AWS::CloudFront::Distribution");
    expect(distribution?.DependsOn).toEqual(expect.arrayContaining(knowing.map(({ logicalId }) => logicalId)));
  });
});

const bundleOf = (directory: string): string =>
  /"(.*)"/.exec(readFileSync(join(directory, "index.mjs"), "utf8"))?.[1] ?? directory;

it("with a new origin key the functions also accept the previous one until CloudFront sends the new one everywhere", async () => {
  const folder = scratch();
  const before = SETTINGS.test.originKey;
  SETTINGS.test.originKey = before + 1;
  try {
    await synth(folder, ["test"], { bundles: stubBundles(), checked: false });
  } finally {
    SETTINGS.test.originKey = before;
  }
  const earlier = readTemplate(outdir, stackName("test")).front?.requestHeaders[ORIGIN_KEY_HEADER];
  const { functions, front } = readTemplate(folder, stackName("test"));
  const sent = front?.requestHeaders[ORIGIN_KEY_HEADER];
  expect(sent).not.toBe(earlier);
  const accepted = new Set(functions.flatMap(({ environment }) => environment[ORIGIN_KEYS] ?? []));
  expect([...accepted]).toEqual([`${sent} ${earlier}`]);
});
