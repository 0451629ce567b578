// What a deployment does automatically: it protects a created stack, keeps stored settings, and checks the account's limit.
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import * as cxapi from "aws-cdk-lib/cx-api";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  canReserve,
  readConcurrency,
  concurrencyWarning,
  environmentFor,
  findStack,
  hasArchives,
  hasCompleted,
  readIdentity,
} from "../../infra/deployed.ts";
import {
  type Chosen,
  missingOption,
  deployedStore,
  findProblem,
  unreachableKey,
  withChosen,
} from "../../infra/deploy-settings.ts";
import { FEATURE_FLAGS } from "../../infra/feature-flags.ts";
import { rollOut } from "../../infra/roll-out.ts";
import { edgeStackName, RESERVED_MAX, stackName } from "../../infra/settings.ts";
import { scratch } from "./stubs.ts";

/** CloudFormation, Lambda, S3 and STS, as far as a deployment uses them. */
let responses: Record<string, { status: number; text: string }> = {};
let requests: { url: string; authorization: string | undefined }[] = [];
const aws = createServer(({ url = "", headers: { authorization } }, response) => {
  requests.push({ url, authorization });
  const [, service] = /\/(cloudformation|lambda|s3|sts)\/aws4_request/.exec(authorization ?? "") ?? [];
  const { status, text } = responses[service ?? ""] ?? { status: 500, text: "" };
  response.writeHead(status).end(text);
});

const access = { region: "eu-central-1", credentials: { accessKeyId: "AKIDTEST", secretAccessKey: "secret" } };
const environment: Record<string, string> = {};
beforeAll(async () => {
  await new Promise<void>((listening) => aws.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(aws.address());
  for (const service of ["CLOUDFORMATION", "LAMBDA", "S3", "STS"])
    environment[`AWS_ENDPOINT_URL_${service}`] = `http://127.0.0.1:${port}`;
  Object.assign(process.env, environment);
});
afterAll(() => aws.close());
beforeEach(() => {
  requests = [];
  responses = { cloudformation: stackIn("UPDATE_COMPLETE"), lambda: limitOf(1000), s3: bucketWith(""), sts: IDENTITY };
});

const limitOf = (ConcurrentExecutions: number, UnreservedConcurrentExecutions = ConcurrentExecutions) => ({
  status: 200,
  text: JSON.stringify({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } }),
});
const bucketWith = (objects: string) => ({ status: 200, text: `<ListBucketResult>${objects}</ListBucketResult>` });
const IDENTITY = {
  status: 200,
  text: "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/r&amp;d</Arn><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>",
};
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
    expect(requests).toEqual([
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
  expect(concurrencyWarning(await readConcurrency(access))).toMatch(/Only 10 .*--quota-code L-B99A9384 --desired-value 1000/s);
  responses["lambda"] = limitOf(1000);
  expect(concurrencyWarning(await readConcurrency(access))).toBeUndefined();
});

it("a new account's ten functions are not reserved, and a stack's own reservation does not count against it", async () => {
  const of = async (limit: number, unreserved?: number) => {
    responses["lambda"] = limitOf(limit, unreserved);
    return readConcurrency(access);
  };
  expect(canReserve(await of(10))).toBe(false);
  expect(canReserve(await of(100 + RESERVED_MAX))).toBe(true);
  expect(canReserve(await of(1000, 99 + RESERVED_MAX))).toBe(false);
  expect(canReserve(await of(1000, 106), { ReservedConcurrency: "14" })).toBe(true);
});

describe("the account", () => {
  it("the deployer is told which account it is, and as whom they deploy", async () => {
    expect(await readIdentity(access)).toEqual({ account: "111122223333", arn: "arn:aws:iam::111122223333:user/r&d" });
    expect(requests[0]?.authorization).toMatch(/\/eu-central-1\/sts\/aws4_request/);
  });

  it("a bucket with an archive has archives; an empty one, or none, has not; an error says neither", async () => {
    responses["s3"] = bucketWith("<Contents><Key>accounts/a</Key></Contents>");
    expect(await hasArchives("backups", access)).toBe(true);
    expect(requests[0]?.url).toBe("/backups?list-type=2&max-keys=1");
    responses["s3"] = bucketWith("<KeyCount>0</KeyCount>");
    expect(await hasArchives("backups", access)).toBe(false);
    responses["s3"] = { status: 404, text: "<Code>NoSuchBucket</Code>" };
    expect(await hasArchives("backups", access)).toBe(false);
    responses["s3"] = { status: 403, text: "<Code>AccessDenied</Code>" };
    await expect(hasArchives("backups", access)).rejects.toThrow("s3:ListBucket returned 403");
  });
});

describe("a roll-out", () => {
  const DASHBOARD = { Dashboard: "https://d1.cloudfront.net" };
  const FIREWALL = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/b";

  /** The stacks in their order, with the options of each that matter here, and what cdk.json has at the end. */
  async function rolledOut(options: Chosen, { isComplete = true, reserved = false, environment = "live" as const } = {}) {
    const deployed: unknown[] = [];
    let text = JSON.stringify({ context: { [environment]: options } });
    const { unneededEdge } = await rollOut({
      environment,
      options,
      isComplete,
      reserved,
      deployStack: async (stack, { protected: isProtected, reserved: isReserved, webAcl, front }) => {
        deployed.push({ stack, isProtected, isReserved, webAcl, front });
        return stack === edgeStackName(environment) ? { WebAcl: FIREWALL } : DASHBOARD;
      },
      store: async (changes) => {
        const stored = withChosen(text, environment, changes);
        ({ text } = stored);
        return stored.values;
      },
    });
    return { deployed, unneededEdge, stored: withChosen(text, environment, {}).values };
  }
  const main = { stack: stackName("live") };
  const edge = { stack: edgeStackName("live") };

  it("a created stack is protected by a second deployment, and stays so by the CDK's own command", async () => {
    const { deployed, stored } = await rolledOut({}, { isComplete: false });
    expect(deployed).toEqual([main, { ...main, isProtected: "true" }]);
    expect(stored).toEqual({ protected: "true" });
    expect((await rolledOut(stored)).deployed).toEqual([{ ...main, isProtected: "true" }]);
  });

  it("another account's first deployment is not protected because this one is", async () => {
    expect((await rolledOut({ protected: "true" }, { isComplete: false })).deployed[0]).toEqual(main);
  });

  it("a firewall exists before CloudFront uses it, and for the host that CloudFront has", async () => {
    const { deployed, stored } = await rolledOut({ requestsPerAddress: "2000" });
    const isProtected = "true";
    const front = "d1.cloudfront.net";
    expect(deployed).toEqual([
      { ...main, isProtected },
      { ...edge, isProtected, front },
      { ...main, isProtected, front, webAcl: FIREWALL },
    ]);
    expect(stored).toMatchObject({ front, webAcl: FIREWALL });
    expect((await rolledOut(stored)).deployed).toHaveLength(2);
  });

  it("CloudFront leaves a firewall before it goes, and a stack that nothing needs is named", async () => {
    const before: Chosen = { protected: "true", front: "d1.cloudfront.net", webAcl: FIREWALL };
    const { deployed, stored, unneededEdge } = await rolledOut(before);
    expect(deployed).toEqual([{ ...main, isProtected: "true" }]);
    expect({ stored, unneededEdge }).toEqual({ stored: { protected: "true" }, unneededEdge: true });
  });

  it("a reservation is made where the account allows it, and ends where it does not", async () => {
    const { deployed, stored } = await rolledOut({}, { reserved: true });
    expect(deployed).toEqual([{ ...main, isProtected: "true", isReserved: "true" }]);
    expect(stored).toEqual({ protected: "true", reserved: "true" });
    expect((await rolledOut(stored)).stored).toEqual({ protected: "true" });
  });
});

it("every feature flag of the CDK has a value that we have chosen", () => {
  const { CURRENTLY_RECOMMENDED_FLAGS } = cxapi;
  expect(Object.keys(FEATURE_FLAGS).toSorted()).toEqual(Object.keys(CURRENTLY_RECOMMENDED_FLAGS).toSorted());
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

  it.each<[Chosen, string | undefined]>([
    [{ recoverDays: "0" }, "--recoverDays must be 1 to 365."],
    [{ recoverDays: "7.5" }, "--recoverDays must be 1 to 365."],
    [{ lockDays: "366" }, "--lockDays must be 0 to 365."],
    [{ archiveAdmins: "*" }, "--archiveAdmins must not stand for every role."],
    [{ archiveAdmins: "admin,/*" }, "--archiveAdmins must not stand for every role."],
    [{ archiveAdmins: "arn:aws:iam::1:role/a" }, "--archiveAdmins must be names of roles, separated by commas."],
    [{ archiveAdmins: "archive-admin,aws-reserved/sso.amazonaws.com/*/AWSReservedSSO_A_*" }, undefined],
    [{ replicaBucket: "copy" }, "--replicaBucket must be the ARN of a bucket."],
    [{ replicaBucket: "arn:aws:s3:::copy/*" }, "--replicaBucket must be the ARN of a bucket."],
    [{ secretReplicas: "eu-west-1, us-west-2" }, "--secretReplicas must be names of regions, separated by commas."],
    [{ secretReplicas: "eu-west-1,ap-southeast-2" }, undefined],
    [{ budget: "-1" }, "--budget must be 0 to 10000000."],
    [{ budget: "0" }, undefined],
    [{ requestsPerAddress: "50" }, "--requestsPerAddress must be 100 to 1000000000."],
    [{ storeEndpoint: "https://s3.example.com" }, "Use --storeEndpoint, --storeBucket and --storeRegion together."],
    [
      { storeEndpoint: "http://s3.example.com", storeBucket: "backups", storeRegion: "eu" },
      "--storeEndpoint must be https:// and a host.",
    ],
    [
      { storeEndpoint: "https://s3.example.com/x; a", storeBucket: "backups", storeRegion: "eu" },
      "--storeEndpoint must be https:// and a host.",
    ],
    [
      { storeEndpoint: "https://s3.example.com", storeBucket: "b; *", storeRegion: "eu" },
      "--storeBucket must be the name of a bucket.",
    ],
    [{ storeEndpoint: "https://s3.example.com:9000/", storeBucket: "my.backups", storeRegion: "eu-1" }, undefined],
    [{ certificate: "arn" }, "Use --domain and --certificate together."],
    [{ alarmEmail: "nobody" }, "--alarmEmail must be an email address."],
    [{ mailSender: "Acme <a@example.com>" }, "--mailSender must be an email address with a domain in lowercase letters."],
  ])("the options %j are rejected in a sentence, or fine", (options, sentence) => {
    expect(findProblem(options, (name) => `--${name}`)).toBe(sentence);
  });

  it("a deployment that would delete archives for good stops, unless its options say so", () => {
    const outputs = { BackupBucket: "backups" }; // of before there was the option: 30 days
    expect(missingOption(outputs, {}, {})).toContain("--recover-days 30 to keep them, or --recover-days 7 if");
    expect(missingOption(outputs, { recoverDays: "7" }, { recoverDays: "7" })).toBeUndefined();
    expect(missingOption(outputs, { recoverDays: "30" }, {})).toBeUndefined();
    expect(missingOption({ ...outputs, RecoverDays: "7" }, {}, {})).toBeUndefined();
    expect(missingOption({ ...outputs, RecoverDays: "14" }, {}, {})).toContain("for 14 days");
    expect(missingOption({}, {}, {})).toBeUndefined();
  });

  it("a deployment that would end a protection stops, unless its options say so; locks cannot end", () => {
    const outputs = {
      ArchiveAdmins: "archive-admin",
      LockDays: "7",
      ReplicaBucket: "arn:aws:s3:::copy",
      SecretReplicas: "eu-west-1",
    };
    const values = {
      archiveAdmins: "archive-admin",
      lockDays: "7",
      replicaBucket: "arn:aws:s3:::copy",
      secretReplicas: "eu-west-1",
    };
    expect(missingOption(outputs, values, {})).toBeUndefined();
    for (const [option, name] of [
      ["archiveAdmins", "--archive-admins"],
      ["replicaBucket", "--replica-bucket"],
      ["secretReplicas", "--secret-replicas"],
    ] as const) {
      const { [option]: _, ...rest } = values;
      expect(missingOption(outputs, rest, {})).toMatch(new RegExp(`end that: give ${name} as before, or ${name} none\\.$`));
      expect(missingOption(outputs, rest, { [option]: "none" })).toBeUndefined();
    }
    const { lockDays: _, ...rest } = values;
    expect(missingOption(outputs, rest, { lockDays: "none" })).toContain("--lock-days 0 to lock no new ones");
    expect(missingOption(outputs, { ...values, lockDays: "0" }, {})).toBeUndefined();
  });

  it("a change of the store is noticed in both directions", () => {
    const other = { storeEndpoint: "https://s3.example.com/", storeBucket: "erp", storeRegion: "eu" };
    const url = "https://s3.example.com/erp/";
    expect(deployedStore({}, other)).toBeUndefined();
    expect(deployedStore({ BackupBucket: "b" }, {})).toBeUndefined();
    expect(deployedStore({ BackupBucket: "b" }, other)).toBe("b");
    expect(deployedStore({ BackupBucket: "b", BackupStore: url }, other)).toBeUndefined();
    expect(deployedStore({ BackupBucket: "b", BackupStore: url }, {})).toBe(url);
    expect(deployedStore({ BackupBucket: "b", BackupStore: url }, { ...other, storeBucket: "erp2" })).toBe(url);
  });

  it("a setting is removed on request", () => {
    expect(withChosen(CDK_JSON, "live", { domain: "none", certificate: "none" }).values).toEqual({});
  });

  const KEYS = { AWS_ACCESS_KEY_ID: "AKIDTEST", AWS_SECRET_ACCESS_KEY: "secret" };
  const errorResponse = (...options: string[]) => errorIn(KEYS, ...options);
  const errorIn = (
    shell: Record<string, string>,
    ...options: string[]
  ): Promise<{ code: number | null; stderr: string; stdout: string }> =>
    new Promise((ended) => {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, ...environment, AWS_REGION: "eu-central-1", ...shell };
      const child = execFile(process.execPath, ["infra/deploy.ts", ...options], { env }, (_, stdout, stderr) =>
        ended({ code: child.exitCode, stderr, stdout }),
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

  it("a store that has archives is not left by mistake, in the account that the command names", async () => {
    responses["cloudformation"] = stackIn("UPDATE_COMPLETE", { BackupBucket: "backups", RecoverDays: "7" });
    responses["s3"] = bucketWith("<Contents><Key>accounts/a</Key></Contents>");
    const other = ["--store-endpoint", "https://s3.example.com", "--store-bucket", "erp", "--store-region", "eu"];
    const { code, stderr, stdout } = await errorResponse("live", ...other);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: "Account 111122223333, eu-central-1, as arn:aws:iam::111122223333:user/r&d\n",
    });
    expect(stderr).toContain("Archives are in backups, and this deployment would look for them elsewhere");
    expect(stderr).toContain("--archives-moved");
  });

  it("an option's value is checked before AWS is asked anything", async () => {
    const { code, stderr } = await errorResponse("live", "--requests-per-address", "many");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "--requests-per-address must be 100 to 1000000000.\n" });
    expect(requests).toEqual([]);
  });

  it("an option that would keep test from being removed is rejected there", async () => {
    const { code, stderr } = await errorResponse("test", "--lock-days", "7");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "--lock-days is for live: the archives of test are deleted with it.\n" });
    expect(requests).toEqual([]);
  });

  it("neither an older domain nor another alarm email replaces the stack's without an option", () => {
    const outputs = { Dashboard: "https://b.example", Distribution: "d.cloudfront.net", AlarmEmail: "b@example.com" };
    const same = { domain: "b.example", certificate: "arn", alarmEmail: "b@example.com" };
    expect(missingOption(outputs, same, {})).toBeUndefined();
    const older = { ...same, domain: "a.example" };
    expect(missingOption(outputs, older, {})).toContain("https://b.example, and this deployment would take that name away");
    expect(missingOption(outputs, older, { domain: "a.example", certificate: "arn" })).toBeUndefined();
    for (const alarmEmail of ["a@example.com", undefined])
      expect(missingOption(outputs, { ...same, alarmEmail }, {})).toContain("Alarms go to b@example.com");
    expect(missingOption(outputs, { ...same, alarmEmail: "a@example.com" }, { alarmEmail: "a@example.com" })).toBeUndefined();
    expect(missingOption({ Dashboard: "https://d1.cloudfront.net" }, {}, {})).toBeUndefined();
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
    expect(requests).toEqual([]);
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
  const scriptNames = [...guide.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name);
  expect(scriptNames.filter((name) => !(name in scripts()))).toEqual([]);
  expect(guide).not.toMatch(/\bnpx /);
});

it.each(globSync(["docs/*.md", "README.md"]))("%s has no comment behind a command, which zsh would pass on to it", (file) => {
  const blocks = [...readFileSync(file, "utf8").matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)];
  const commands = blocks.flatMap(([, language, block = ""]) => (["", "bash"].includes(language ?? "") ? [block] : []));
  expect(commands.join("").match(/.*\S[ \t]+# .*/g)).toBeNull();
});
