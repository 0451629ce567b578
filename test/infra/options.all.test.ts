// What the options of a deployment change in the templates.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as z from "zod";
import { synth } from "../../infra/app.ts";
import { edgeStackName, RESERVED_MAX, stackName } from "../../infra/settings.ts";
import { allows, NEEDED, resourceOf } from "./deployment-policy.ts";
import { problemsOf, Resources } from "./schemas.ts";
import { scratch, stubBundles } from "./stubs.ts";

const manifest = z.looseObject({
  artifacts: z.record(
    z.string(),
    z.looseObject({ properties: z.looseObject({ terminationProtection: z.boolean().optional() }).optional() }),
  ),
});
const Template = z.looseObject({ Resources, Outputs: z.record(z.string(), z.json()) });

/** The context in the form in which the CDK's command line passes it on. */
async function withContext(context: Record<string, unknown>, { checked = false } = {}) {
  const folder = scratch();
  process.env["CDK_CONTEXT_JSON"] = JSON.stringify(context);
  try {
    await synth(folder, ["live"], { bundles: stubBundles(), checked });
  } finally {
    delete process.env["CDK_CONTEXT_JSON"];
  }
  const { artifacts } = manifest.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
  const stack = (name: string) => {
    const text = readFileSync(join(folder, `${name}.template.json`), "utf8");
    const template = Template.parse(JSON.parse(text));
    const of = (type: string) => Object.values(template.Resources).filter(({ Type }) => Type === type);
    return { text, of, ...template };
  };
  const isProtected = artifacts[stackName("live")]?.properties?.terminationProtection ?? false;
  return { isProtected, main: stack(stackName("live")), stack, names: Object.keys(artifacts) };
}

const replica = (DeletionProtectionEnabled: boolean) => ({
  Properties: { Replicas: [expect.objectContaining({ DeletionProtectionEnabled })] },
});

it("the CDK's own command protects the stack and the table, and uses the domain, as cdk.json says", async () => {
  const domainSettings = { domain: "erp.example.com", certificate: "arn:aws:acm:us-east-1:111111111111:certificate/1" };
  const { isProtected, main, names } = await withContext({ live: { ...domainSettings, protected: "true" } });
  expect(isProtected).toBe(true);
  expect(main.of("AWS::DynamoDB::GlobalTable")[0]).toMatchObject(replica(true));
  expect(main.text).toMatch(/"Aliases":\s*\[\s*"erp\.example\.com"/);
  expect(names).not.toContain(edgeStackName("live"));
  expect(main.of("AWS::Budgets::Budget")).toMatchObject([
    { Properties: { Budget: { BudgetLimit: { Amount: 100, Unit: "USD" }, CostTypes: { IncludeCredit: false } } } },
  ]);
  expect(main.text).toMatch(/"NoncurrentDays":\s*7\b/);
  expect(main.text).not.toContain("ReservedConcurrentExecutions");
});

it("a first creation is not protected, whatever cdk.json says of another account", async () => {
  const { isProtected, main } = await withContext({ protected: "false", live: { protected: "true" } });
  expect(isProtected).toBe(false);
  expect(main.of("AWS::DynamoDB::GlobalTable")[0]).toMatchObject(replica(false));
});

it("all options together satisfy AWS's schemas, cdk-nag and the narrowed deployment policy", async () => {
  const store = { storeEndpoint: "https://s3.example.com", storeBucket: "erp", storeRegion: "eu-1" };
  const webAcl = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/b";
  const copies = { replicaBucket: "arn:aws:s3:::copy", secretReplicas: "eu-west-1,us-west-2" };
  const options = {
    ...store,
    ...copies,
    archiveAdmins: "archive-admin",
    lockDays: "7",
    webAcl,
    recoverDays: "30",
    budget: "0",
    mailSender: "noreply@example.com",
    healthCheck: "on",
    requestsPerAddress: "2000",
  };
  const live = { ...options, front: "d1.cloudfront.net", reserved: "true", protected: "true", alarmEmail: "a@example.com" };
  const { main, stack } = await withContext({ live }, { checked: true });
  const edge = stack(edgeStackName("live"));
  for (const { Resources: all } of [main, edge]) {
    expect(problemsOf(all)).toEqual([]);
    const types = [...new Set(Object.values(all).map(({ Type }) => Type))];
    const denied = types.flatMap((type) =>
      (NEEDED[type] ?? [`${type} itself`]).filter((each) => !allows(each, resourceOf(each))),
    );
    expect(denied).toEqual([]);
  }

  // Another store: its keys are in a secret, the dashboard uploads there, and no function may do anything in S3.
  expect(main.Outputs).toMatchObject({ BackupStore: { Value: "https://s3.example.com/erp/" }, RecoverDays: { Value: "30" } });
  expect(main.text).toContain("connect-src 'self' https://s3.example.com/erp/;");
  const keys = main.Outputs["StoreKeys"];
  const functions = main.of("AWS::Lambda::Function").map(({ Properties }) => JSON.stringify(Properties));
  const using = functions.filter((each) => each.includes('"BACKUP_BUCKET":"erp"'));
  expect(using.length).toBeGreaterThan(10);
  for (const each of using) {
    expect(each).toContain('"BACKUP_S3_ENDPOINT":"https://s3.example.com","BACKUP_S3_REGION":"eu-1"');
    expect(each).toContain(`"BACKUP_S3_SECRET":${JSON.stringify(z.object({ Value: z.json() }).parse(keys).Value)}`);
  }
  const roles = Object.entries(main.Resources).filter(
    ([id, { Type }]) => Type === "AWS::IAM::Role" && id.startsWith("functions"),
  );
  expect(roles.filter(([, role]) => JSON.stringify(role).includes('"s3:'))).toEqual([]);

  expect(main.of("AWS::Budgets::Budget")).toEqual([]);

  // Only the function that sends may use SES, and only from this address.
  const mailing = Object.values(main.Resources).filter((each) => /"ses:Send/.test(JSON.stringify(each)));
  expect(mailing.map(({ Type }) => Type)).toEqual(["AWS::IAM::Role"]);
  expect(JSON.stringify(mailing)).toContain('"Condition":{"StringEquals":{"ses:FromAddress":"noreply@example.com"}}');
  expect(JSON.stringify(mailing)).toMatch(/identity\/example\.com".*configuration-set\/ErpControlPlane-live"/);
  expect(main.of("AWS::SES::ConfigurationSetEventDestination")).toHaveLength(1);
  expect(main.Outputs).toMatchObject({ MailSender: { Value: "noreply@example.com" } });
  const reservations = main
    .of("AWS::Lambda::Function")
    .flatMap(({ Properties }) =>
      Object.entries(Properties).flatMap(([name, value]) => (name === "ReservedConcurrentExecutions" ? [Number(value)] : [])),
    );
  const reserved = reservations.reduce((sum, each) => sum + each, 0);
  expect(main.Outputs["ReservedConcurrency"]).toEqual({ Value: String(reserved) });
  expect(reserved).toBeGreaterThan(0);
  expect(reserved).toBeLessThanOrEqual(RESERVED_MAX);

  expect(main.of("AWS::CloudFront::Distribution")).toMatchObject([{ Properties: { DistributionConfig: { WebACLId: webAcl } } }]);
  expect(edge.of("AWS::Route53::HealthCheck")).toMatchObject([
    { Properties: { HealthCheckConfig: { FullyQualifiedDomainName: "d1.cloudfront.net", ResourcePath: "/api/v1/health" } } },
  ]);
  const [firewall] = edge.of("AWS::WAFv2::WebACL");
  expect(firewall).toMatchObject({
    Properties: {
      Scope: "CLOUDFRONT",
      Rules: [{ Statement: { RateBasedStatement: { Limit: 2000, AggregateKeyType: "IP" } } }],
    },
  });
  expect(JSON.stringify(firewall)).toContain('\\"code\\":\\"RATE_LIMIT_EXCEEDED\\"');
  const [alarm] = edge.of("AWS::CloudWatch::Alarm");
  expect(readFileSync("docs/operations.md", "utf8")).toContain("\n## not-reachable\n");
  expect(alarm?.Properties["AlarmDescription"]).toMatch(/#not-reachable$/);
});
