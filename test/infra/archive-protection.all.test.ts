// What protects archives and secrets in live: who may delete archives for good, object lock, and copies in other regions and
// accounts.
import { runSimulation } from "@cloud-copilot/iam-simulate";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { synth } from "../../infra/app.ts";
import { ACCOUNT, open, REGION, listResources } from "../../infra/local/template/resolve.ts";
import { readRoles } from "../../infra/local/template/roles.ts";
import { stackName } from "../../infra/settings.ts";
import { LIMITS } from "./limits.ts";
import { scratch, stubBundles } from "./stubs.ts";

const bundles = stubBundles();
type Resources = ReturnType<typeof listResources>;

async function resourcesWith(options: Record<string, string>, environment: "test" | "live" = "live"): Promise<Resources> {
  const folder = scratch();
  process.env["CDK_CONTEXT_JSON"] = JSON.stringify({ [environment]: options });
  try {
    await synth(folder, [environment], { bundles, checked: false });
  } finally {
    delete process.env["CDK_CONTEXT_JSON"];
  }
  return listResources(open(folder, stackName(environment)));
}

const REPLICA = "arn:aws:s3:::acme-archives-copy";
const ALL = {
  protected: "true",
  archiveAdmins: "archive-admin,aws-reserved/sso.amazonaws.com/*/AWSReservedSSO_Archives_*",
  lockDays: "7",
  replicaBucket: REPLICA,
  secretReplicas: "eu-west-1,us-west-2",
};
const stacks: Record<"plain" | "all" | "test", Resources> = { plain: [], all: [], test: [] };
beforeAll(async () => {
  stacks.plain = await resourcesWith({});
  stacks.all = await resourcesWith(ALL);
  stacks.test = await resourcesWith({ ...ALL, secretReplicas: "eu-west-1" }, "test");
});

const bucketIn = (resources: Resources) => {
  const found = resources.find(({ type, logicalId }) => type === "AWS::S3::Bucket" && logicalId.startsWith("storagebackups"));
  if (found === undefined) throw new Error("The template has no bucket for archives");
  return found;
};

/** Whether a role that may do everything in the account may do this to the archives. */
async function mayDo(resources: Resources, role: string, action: string): Promise<boolean> {
  const { name, arn } = bucketIn(resources);
  const policy = resources.find(({ type, properties }) => type === "AWS::S3::BucketPolicy" && properties["Bucket"] === name);
  const onObjects = /Object(Version)?$|Governance/.test(action);
  const result = await runSimulation(
    {
      request: {
        principal: `arn:aws:sts::${ACCOUNT}:assumed-role/${role.split("/").at(-1)}/session`,
        action,
        resource: { resource: onObjects ? `${arn}/accounts/a/backups/b.zip` : arn, accountId: ACCOUNT },
        contextVariables: {
          "aws:SecureTransport": "true",
          "aws:PrincipalArn": `arn:aws:iam::${ACCOUNT}:role/${role}`,
          "aws:PrincipalAccount": ACCOUNT,
        },
      },
      identityPolicies: [
        {
          name: "administrator",
          policy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }] },
        },
      ],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      resourcePolicy: policy?.properties["PolicyDocument"],
    },
    {},
  );
  if (result.resultType === "error") throw new Error(JSON.stringify(result.errors));
  return result.overallResult === "Allowed";
}

const FOR_GOOD = [
  "s3:BypassGovernanceRetention",
  "s3:DeleteBucketPolicy",
  "s3:DeleteObjectVersion",
  "s3:PutBucketObjectLockConfiguration",
  "s3:PutBucketPolicy",
  "s3:PutBucketVersioning",
  "s3:PutLifecycleConfiguration",
  "s3:PutReplicationConfiguration",
];
const DEPLOYMENT = `cdk-hnb659fds-cfn-exec-role-${ACCOUNT}-${REGION}`;

describe("who may delete archives for good", () => {
  it.each(FOR_GOOD)("%s is for the deployment's role, and for no other administrator", async (action) => {
    expect(await mayDo(stacks.plain, DEPLOYMENT, action)).toBe(true);
    expect(await mayDo(stacks.plain, "Administrator", action)).toBe(false);
    expect(await mayDo(stacks.plain, `cdk-hnb659fds-deploy-role-${ACCOUNT}-${REGION}`, action)).toBe(false);
  });

  it("named roles may, too, also by a pattern, and the deployment's still may", async () => {
    for (const action of FOR_GOOD) {
      expect(await mayDo(stacks.all, DEPLOYMENT, action)).toBe(true);
      expect(await mayDo(stacks.all, "archive-admin", action)).toBe(true);
      expect(await mayDo(stacks.all, "aws-reserved/sso.amazonaws.com/eu-central-1/AWSReservedSSO_Archives_0a1b", action)).toBe(
        true,
      );
      expect(await mayDo(stacks.all, "archive-admin-2", action)).toBe(false);
    }
  });

  it("what the service and operators do every day is not affected: a deletion leaves a version", async () => {
    const daily = [
      "s3:GetObject",
      "s3:GetObjectVersion",
      "s3:PutObject",
      "s3:DeleteObject",
      "s3:ListBucket",
      "s3:GetLifecycleConfiguration",
    ];
    for (const action of daily)
      expect({ action, may: await mayDo(stacks.plain, "Administrator", action) }).toEqual({ action, may: true });
    expect(bucketIn(stacks.plain).properties["VersioningConfiguration"]).toEqual({ Status: "Enabled" });
  });

  it("test's archives are deleted with it, so its bucket has no such policy and no locks", async () => {
    for (const action of FOR_GOOD) expect(await mayDo(stacks.test, "Administrator", action)).toBe(true);
    expect(bucketIn(stacks.test).properties).not.toHaveProperty("ObjectLockConfiguration");
  });
});

describe("object lock", () => {
  it("new archives are locked in governance mode, in a way that does not replace an existing bucket", () => {
    const { properties } = bucketIn(stacks.all);
    expect(properties["ObjectLockConfiguration"]).toEqual({
      ObjectLockEnabled: "Enabled",
      Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days: 7 } },
    });
    for (const stack of [stacks.plain, stacks.all]) expect(bucketIn(stack).properties).not.toHaveProperty("ObjectLockEnabled");
    expect(bucketIn(stacks.plain).properties).not.toHaveProperty("ObjectLockConfiguration");
  });

  it("a failed creation must be removable, so only a created stack has locks; 0 days lock nothing new", async () => {
    const created = await resourcesWith({ lockDays: "7" });
    expect(bucketIn(created).properties).not.toHaveProperty("ObjectLockConfiguration");
    const none = await resourcesWith({ lockDays: "0", protected: "true" });
    expect(bucketIn(none).properties["ObjectLockConfiguration"]).toEqual({ ObjectLockEnabled: "Enabled" });
  });
});

describe("copies", () => {
  const Replication = z.object({ Role: z.string(), Rules: z.array(z.record(z.string(), z.json())) });

  it("every archive and every deletion goes to the replica, by a role that can do nothing else", () => {
    for (const stack of [stacks.all, stacks.test]) {
      const { arn, properties } = bucketIn(stack);
      const { Role, Rules } = Replication.parse(properties["ReplicationConfiguration"]);
      expect(Rules).toMatchObject([
        {
          Status: "Enabled",
          Destination: { Bucket: REPLICA },
          DeleteMarkerReplication: { Status: "Enabled" },
          Filter: { Prefix: "" },
        },
      ]);
      const role = readRoles(stack).find((each) => each.arn === Role);
      const trust = stack.find((each) => each.arn === Role)?.properties["AssumeRolePolicyDocument"];
      expect(JSON.stringify(trust).match(/"aws:SourceAccount":"\d{12}"/g)).toHaveLength(2);
      const resources = role?.policies.flatMap(({ Statement }) =>
        z.array(z.looseObject({ Resource: z.string(), Action: z.union([z.string(), z.array(z.string())]) })).parse(Statement),
      );
      expect(new Set(resources?.map(({ Resource }) => Resource))).toEqual(new Set([arn, `${arn}/*`, `${REPLICA}/*`]));
      const locked = resources?.some(({ Action }) => Action.includes("s3:GetObjectRetention"));
      expect(locked).toBe(stack === stacks.all);
    }
    expect(bucketIn(stacks.plain).properties).not.toHaveProperty("ReplicationConfiguration");
  });

  it("every secret that is not made anew has a replica in each region", () => {
    const replicasIn = (resources: Resources) =>
      resources.flatMap(({ type, logicalId, properties }) =>
        type === "AWS::SecretsManager::Secret" && !logicalId.startsWith("originkey") ? [properties["ReplicaRegions"]] : [],
      );
    expect(replicasIn(stacks.all)).toEqual(Array.from({ length: 4 }, () => [{ Region: "eu-west-1" }, { Region: "us-west-2" }]));
    expect(replicasIn(stacks.test)).toEqual(Array.from({ length: 3 }, () => [{ Region: "eu-west-1" }]));
    expect(new Set(replicasIn(stacks.plain))).toEqual(new Set([undefined]));
  });

  it("all of it costs the stack one resource", () => {
    expect(stacks.all.length).toBe(stacks.plain.length + 1);
    expect(stacks.all.length).toBeLessThanOrEqual(LIMITS.find(({ name }) => name === "Resources of a stack")?.near ?? 0);
  });
});
