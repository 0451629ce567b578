// S3 copies archives to a bucket in another region or account, also those from before there was one.
import { Validations } from "aws-cdk-lib";
import { CompositePrincipal, PolicyDocument, PolicyStatement, Role } from "aws-cdk-lib/aws-iam";
import { Bucket, type ReplicationRule } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { serviceForUs } from "./principals.ts";

interface Props {
  /** The ARN of the bucket with the archives, and as findings of cdk-nag spell it. */
  source: string;
  nagSource: string;
  /** Whether versions are locked: replicas are, too. */
  locked: boolean;
}

/** Properties of the bucket with the archives. */
export interface Replication {
  replicationRole: Role;
  replicationRules: ReplicationRule[];
}

/** `replica`: the ARN of the other bucket. */
export function replicationTo(scope: Construct, replica: string | undefined, props: Props): Replication | undefined {
  if (replica === undefined) return undefined;
  return {
    replicationRole: replicationRole(scope, replica, props),
    replicationRules: [
      // Deletions, too: the replica's own lifecycle says for how long they can be recovered there. Those of versions are never
      // replicated.
      { destination: Bucket.fromBucketArn(scope, "replica", replica), deleteMarkerReplication: true },
    ],
  };
}

function replicationRole(scope: Construct, replica: string, { source, nagSource, locked }: Props): Role {
  const read = ["GetObjectVersionForReplication", "GetObjectVersionAcl", "GetObjectVersionTagging", "InitiateReplication"];
  const role = new Role(scope, "replication", {
    description: "S3 replicates archives with it",
    assumedBy: new CompositePrincipal(serviceForUs("s3.amazonaws.com"), serviceForUs("batchoperations.s3.amazonaws.com")),
    inlinePolicies: {
      replication: new PolicyDocument({
        statements: [
          // The last one lets a batch find what has not been replicated.
          allow(["GetReplicationConfiguration", "ListBucket", "PutInventoryConfiguration"], source),
          allow([...read, ...(locked ? ["GetObjectRetention", "GetObjectLegalHold"] : [])], `${source}/*`),
          allow(["ReplicateObject", "ReplicateDelete", "ReplicateTags"], `${replica}/*`),
        ],
      }),
    },
  });
  Validations.of(role).acknowledge(
    ...[nagSource, replica].map((bucket) => ({
      id: `AwsSolutions-IAM5[Resource::${bucket}/*]`,
      reason: "Archives get their names when they are created: all of this bucket, and nothing outside it",
    })),
  );
  return role;
}

const allow = (actions: readonly string[], resource: string): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `s3:${action}`), resources: [resource] });
