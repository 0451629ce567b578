// What a deployment does automatically: it protects a created stack, keeps stored settings, and checks the account's limit.
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { synth } from "../../infra/app.ts";
import { concurrencyLimit, concurrencyWarning, environmentFor, findStack, hasCompleted } from "../../infra/deployed.ts";
import { forgotten, unreachableKey, withChosen } from "../../infra/deploy-settings.ts";
import { stackName } from "../../infra/settings.ts";
import { scratch, stubBundles } from "./stubs.ts";

/** CloudFormation and Lambda, as far as a deployment uses them. */
let responses: Record<string, { status: number; text: string }> = {};
let asked: { url: string; authorization: string | undefined }[] = [];
const aws = createServer(({ url = "", headers: { authorization } }, response) => {
  asked.push({ url, authorization });
  const { status, text } = responses[url.startsWith("/2016-08-19") ? "lambda" : "cloudformation"] ?? { status: 500, text: "" };
  response.writeHead(status).end(text);
});

const access = { region: "eu-central-1", credentials: { accessKeyId: "AKIDTEST", secretAccessKey: "secret" } };
const environment: Record<string, string> = {};
beforeAll(async () => {
  await new Promise<void>((listening) => aws.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(aws.address());
  environment["AWS_ENDPOINT_URL_CLOUDFORMATION"] = `http://127.0.0.1:${port}`;
  environment["AWS_ENDPOINT_URL_LAMBDA"] = `http://127.0.0.1:${port}`;
  Object.assign(process.env, environment);
});
afterAll(() => aws.close());
beforeEach(() => {
  asked = [];
  responses = { cloudformation: stackIn("UPDATE_COMPLETE"), lambda: limitOf(1000) };
});

const limitOf = (ConcurrentExecutions: number) => ({
  status: 200,
  text: JSON.stringify({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions: ConcurrentExecutions } }),
});
const stackIn = (status: string, outputs: Record<string, string> = {}) => ({
  status: 200,
  text: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${Object.entries(outputs)
    .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
    .join("")}</Outputs><StackStatus>${status}</StackStatus></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
});
const NO_STACK = {
  status: 400,
  text: "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>",
};

describe("the existing stack", () => {
  it("the deployer reads the existing stack with signed requests", async () => {
    responses["cloudformation"] = stackIn("CREATE_COMPLETE", {
      Dashboard: "https://a.example",
      Distribution: "d.cloudfront.net",
    });
    expect(await findStack(stackName("live"), access)).toEqual({
      status: "CREATE_COMPLETE",
      outputs: { Dashboard: "https://a.example", Distribution: "d.cloudfront.net" },
    });
    expect(asked).toEqual([
      {
        url: "/?Action=DescribeStacks&Version=2010-05-15&StackName=ErpControlPlane-live",
        authorization: expect.stringMatching(/Credential=AKIDTEST\/\d+\/eu-central-1\/cloudformation\/aws4_request/),
      },
    ]);
  });

  it("what XML escapes in an output arrives as it is", async () => {
    responses["cloudformation"] = stackIn("UPDATE_COMPLETE", { AlarmEmail: "r&amp;d@example.com" });
    expect((await findStack("stack", access))?.outputs).toEqual({ AlarmEmail: "r&d@example.com" });
  });

  it.each(["CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED"])(
    "a stack in %s is protected",
    async (status) => {
      responses["cloudformation"] = stackIn(status);
      expect(hasCompleted(await findStack("stack", access))).toBe(true);
    },
  );

  it.each(["CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS", "CREATE_IN_PROGRESS"])(
    "a stack in %s may be deleted",
    async (status) => {
      responses["cloudformation"] = stackIn(status);
      expect(hasCompleted(await findStack("stack", access))).toBe(false);
    },
  );

  it("the stack may not exist yet", async () => {
    responses["cloudformation"] = NO_STACK;
    expect(hasCompleted(await findStack("stack", access))).toBe(false);
  });

  it("a deployer who may not read the stack gets an error, and the stack does not count as absent", async () => {
    responses["cloudformation"] = { status: 403, text: "<Code>AccessDenied</Code>" };
    await expect(findStack("stack", access)).rejects.toThrow("cloudformation:DescribeStacks returned 403");
  });
});

it("the deployment of a new account with ten concurrent functions says what to request from AWS", async () => {
  responses["lambda"] = limitOf(10);
  expect(concurrencyWarning(await concurrencyLimit(access))).toMatch(/Only 10 .*--quota-code L-B99A9384 --desired-value 1000/s);
  responses["lambda"] = limitOf(1000);
  expect(concurrencyWarning(await concurrencyLimit(access))).toBeUndefined();
});

describe("stored settings", () => {
  const CDK_JSON = JSON.stringify({
    app: "node",
    context: { "cli-telemetry": false, live: { domain: "erp.example.com", certificate: "arn" } },
  });

  it("a setting is stored for its environment, beside earlier settings", () => {
    const { text, values } = withChosen(CDK_JSON, "live", { alarmEmail: "a@example.com" });
    expect(values).toEqual({ domain: "erp.example.com", certificate: "arn", alarmEmail: "a@example.com" });
    expect(JSON.parse(text)).toEqual({ app: "node", context: { "cli-telemetry": false, live: values } });
    expect(withChosen(text, "test", {}).values).toEqual({});
  });

  it("a setting is removed on request", () => {
    expect(withChosen(CDK_JSON, "live", { domain: "none", certificate: "none" }).values).toEqual({});
  });

  const KEYS = { AWS_ACCESS_KEY_ID: "AKIDTEST", AWS_SECRET_ACCESS_KEY: "secret" };
  const errorResponse = (...options: string[]) => errorIn(KEYS, ...options);
  const errorIn = (shell: Record<string, string>, ...options: string[]): Promise<{ code: number | null; stderr: string }> =>
    new Promise((ended) => {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, ...environment, AWS_REGION: "eu-central-1", ...shell };
      const child = execFile(process.execPath, ["infra/deploy.ts", ...options], { env }, (_, __, stderr) =>
        ended({ code: child.exitCode, stderr }),
      );
    });

  it("the stack's domain stays if the command does not mention it", async () => {
    responses["cloudformation"] = stackIn("UPDATE_COMPLETE", {
      Dashboard: "https://erp.example.com",
      Distribution: "d.cloudfront.net",
    });
    const { code, stderr } = await errorResponse("live");
    expect(code).toBe(1);
    expect(stderr).toContain("https://erp.example.com, and this deployment would take that name away");
  });

  it("neither an older domain nor another alarm email replaces the stack's without an option", () => {
    const outputs = { Dashboard: "https://b.example", Distribution: "d.cloudfront.net", AlarmEmail: "b@example.com" };
    const same = { domain: "b.example", certificate: "arn", alarmEmail: "b@example.com" };
    expect(forgotten(outputs, same, {})).toBeUndefined();
    const older = { ...same, domain: "a.example" };
    expect(forgotten(outputs, older, {})).toContain("https://b.example, and this deployment would take that name away");
    expect(forgotten(outputs, older, { domain: "a.example", certificate: "arn" })).toBeUndefined();
    for (const alarmEmail of ["a@example.com", undefined])
      expect(forgotten(outputs, { ...same, alarmEmail }, {})).toContain("Alarms go to b@example.com");
    expect(forgotten(outputs, { ...same, alarmEmail: "a@example.com" }, { alarmEmail: "a@example.com" })).toBeUndefined();
    expect(forgotten({ Dashboard: "https://d1.cloudfront.net" }, {}, {})).toBeUndefined();
  });

  it.each([
    { deployed: "2", number: 1, harmful: true },
    { deployed: "1", number: 3, harmful: true },
    { deployed: "1", number: 1, harmful: false },
    { deployed: "1", number: 2, harmful: false },
    { deployed: undefined, number: 2, harmful: false },
  ])("after key $deployed, key $number is rejected: $harmful", ({ deployed, number, harmful }) => {
    const outputs = deployed === undefined ? {} : { OriginKey: deployed };
    expect(unreachableKey(outputs, number) !== undefined).toBe(harmful);
  });

  it("a deployment with a key that CloudFront does not have yet stops before anything is built", async () => {
    responses["cloudformation"] = stackIn("UPDATE_COMPLETE", { Dashboard: "https://d1.cloudfront.net", OriginKey: "7" });
    const { code, stderr } = await errorResponse("live");
    expect(code).toBe(1);
    expect(stderr).toContain("Set originKey to 7, or to 8 for a new key.");
  });

  it("the CDK deploys to the region, and with the credentials, whose stack was checked", () => {
    const keys = { AWS_ACCESS_KEY_ID: "AKIDOTHER", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "token" };
    const env = { ...keys, AWS_DEFAULT_REGION: "us-east-1", PATH: "/bin" };
    const checked = { AWS_DEFAULT_REGION: "us-east-1", PATH: "/bin", AWS_REGION: "eu-central-1" };
    expect(environmentFor(access, env)).toEqual({ ...keys, ...checked });
    expect(environmentFor(access, { ...env, AWS_PROFILE: "b" })).toEqual({ ...checked, AWS_PROFILE: "b" });
  });

  it("a shell whose account the CDK and the SDK would not agree on is told what to set", async () => {
    const { code, stderr } = await errorIn({ AWS_DEFAULT_PROFILE: "erp" }, "test");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "AWS_DEFAULT_PROFILE is not enough: set AWS_PROFILE=erp.\n" });
    expect(asked).toEqual([]);
  });

  it("a profile that gives no credentials is told why", async () => {
    const file = join(scratch(), "config");
    writeFileSync(
      file,
      "[profile erp]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = erp\nmfa_serial = arn:aws:iam::1:mfa/m\n",
    );
    const { code, stderr } = await errorIn({ AWS_PROFILE: "erp", AWS_CONFIG_FILE: file }, "test");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^No AWS credentials found: .*\n.+/);
  });

  it("the deployment stops if the deployer may not read whether the stack exists", async () => {
    responses["cloudformation"] = { status: 403, text: "<Code>AccessDenied</Code>" };
    const { code, stderr } = await errorResponse("test");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("Your credentials must allow cloudformation:DescribeStacks"),
    });
  });
});

const scripts = (): Record<string, string> =>
  z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(readFileSync("package.json", "utf8"))).scripts;

it("the CDK's own command installs what it needs, and runs the app with Node 24", () => {
  const { cdk } = scripts();
  const { app } = z.object({ app: z.string() }).parse(JSON.parse(readFileSync("cdk.json", "utf8")));
  for (const command of [cdk, app]) {
    expect(command).toMatch(/^node infra\/local\/with-node24\.mjs \S+$/);
    expect(existsSync(command?.split(" ").at(-1) ?? "")).toBe(true);
  }
});

it.each(globSync("docs/*.md"))("%s names only scripts that exist, and nothing that npx would fetch from elsewhere", (file) => {
  const guide = readFileSync(file, "utf8");
  const named = [...guide.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !(name in scripts()))).toEqual([]);
  expect(guide).not.toMatch(/\bnpx /);
});

it.each(globSync(["docs/*.md", "README.md"]))("%s has no comment behind a command, which zsh would pass on to it", (file) => {
  const blocks = [...readFileSync(file, "utf8").matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)];
  const commands = blocks.flatMap(([, language, block = ""]) => (["", "bash"].includes(language ?? "") ? [block] : []));
  expect(commands.join("").match(/.*\S[ \t]+# .*/g)).toBeNull();
});

describe("the templates", () => {
  const manifest = z.looseObject({
    artifacts: z.record(
      z.string(),
      z.looseObject({ properties: z.looseObject({ terminationProtection: z.boolean().optional() }).optional() }),
    ),
  });
  const resources = z.looseObject({
    Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.json().optional() })),
  });

  /** The context in the form in which the CDK's command line passes it on. */
  async function withContext(context: Record<string, unknown>) {
    const folder = scratch();
    process.env["CDK_CONTEXT_JSON"] = JSON.stringify(context);
    try {
      await synth(folder, ["live"], { bundles: stubBundles(), checked: false });
    } finally {
      delete process.env["CDK_CONTEXT_JSON"];
    }
    const { artifacts } = manifest.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
    const text = readFileSync(join(folder, `${stackName("live")}.template.json`), "utf8");
    const { Resources } = resources.parse(JSON.parse(text));
    const [table] = Object.values(Resources).filter(({ Type }) => Type === "AWS::DynamoDB::GlobalTable");
    return { terminationProtection: artifacts[stackName("live")]?.properties?.terminationProtection ?? false, table, text };
  }

  const replica = (DeletionProtectionEnabled: boolean) => ({
    Properties: { Replicas: [expect.objectContaining({ DeletionProtectionEnabled })] },
  });

  it("later deployments protect the stack and the table, and use the domain stored in cdk.json", async () => {
    const kept = { domain: "erp.example.com", certificate: "arn:aws:acm:us-east-1:111111111111:certificate/1" };
    const { terminationProtection, table, text } = await withContext({ protected: "true", live: kept });
    expect(terminationProtection).toBe(true);
    expect(table).toMatchObject(replica(true));
    expect(text).toMatch(/"Aliases":\s*\[\s*"erp\.example\.com"/);
  }, 300_000);
});
