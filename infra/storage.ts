// The bucket for archives of backups, what protects it from mistakes of administrators, and the log of its downloads.
import { Aws, DefaultStackSynthesizer, Duration, Fn, Stack, Validations } from "aws-cdk-lib";
import { AnyPrincipal, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  CfnBucket,
  HttpMethods,
  type IBucket,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { type Chosen, splitList, RECOVER_DAYS } from "./deploy-settings.ts";
import { chooseRemoval } from "./removal.ts";
import { type Replication, replicationTo } from "./replication.ts";
import { UPLOAD } from "../shared/domain/limits.ts";
import type { Settings } from "./settings.ts";
import type { Store, StoreAccess } from "./store.ts";

const ACCESS_LOG_DAYS = 90;

const OBJECT_ACTIONS: Readonly<Record<StoreAccess, readonly string[]>> = {
  read: ["GetObject"],
  write: ["GetObject", "PutObject", "DeleteObject", "AbortMultipartUpload", "ListMultipartUploadParts"],
  upload: ["PutObject", "AbortMultipartUpload"],
  "list parts": ["ListMultipartUploadParts"],
  "list and abort uploads": ["ListMultipartUploadParts", "AbortMultipartUpload"],
  "remove uploads": ["AbortMultipartUpload"],
};

/** Without the first, S3 returns "forbidden" for an archive that does not exist. */
const BUCKET_ACTIONS: Partial<Record<StoreAccess, readonly string[]>> = {
  write: ["ListBucket", "ListBucketMultipartUploads"],
  "remove uploads": ["ListBucketMultipartUploads"],
};

/** The actions by which an archive, or the time for which it can be recovered, is lost for good. */
const FOR_GOOD = [
  "BypassGovernanceRetention",
  "DeleteBucketPolicy",
  "DeleteObjectVersion",
  "PutBucketObjectLockConfiguration",
  "PutBucketPolicy",
  "PutBucketVersioning",
  "PutLifecycleConfiguration",
  "PutReplicationConfiguration",
];

interface Props {
  settings: Settings;
  options: Chosen;
  /** Whether the stack has been created: a bucket with locked archives cannot be removed. */
  guarded: boolean;
}

/**
 * Functions know it by the name that it gets: the bucket waits for the dashboard, which may upload to it, and the dashboard for
 * the functions.
 */
export class Storage extends Construct implements Store {
  readonly backups: Bucket;
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly wildcards: Store["wildcards"];
  /** How long an operator can recover an archive that was deleted or replaced. */
  readonly recoverDays: number;
  /** Undefined without object lock. */
  readonly lockDays: number | undefined;
  readonly replication: Replication | undefined;
  private readonly arn: string;

  constructor(scope: Construct, id: string, { settings, options, guarded }: Props) {
    super(scope, id);
    this.recoverDays = Number(options.recoverDays ?? RECOVER_DAYS);
    this.lockDays = guarded && options.lockDays !== undefined ? Number(options.lockDays) : undefined;
    // Unique to the stack, and as long as a name may be.
    const prefix = Stack.of(this).stackName.toLowerCase();
    const bucketName = Fn.join("-", [prefix, Fn.select(2, Fn.split("/", Aws.STACK_ID))]);
    this.arn = `arn:${Aws.PARTITION}:s3:::${bucketName}`;
    this.variables = { BACKUP_BUCKET: bucketName };
    const nagArn = `arn:<AWS::Partition>:s3:::${prefix}-{"Fn::Select":[2,{"Fn::Split":["/",{"Ref":"AWS::StackId"}]}]}`;
    this.wildcards = [
      {
        resource: `${nagArn}/*`,
        reason: "Archives get their names when they are created: all of this bucket, and nothing outside it",
      },
    ];
    this.url = `https://s3.${Aws.REGION}.amazonaws.com/${bucketName}/`;
    const closed = {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: chooseRemoval(settings),
      // Rejects new objects first: S3 continues to deliver logs for hours.
      autoDeleteObjects: !settings.protectData,
    };
    const accessLog = new Bucket(this, "access-log", {
      ...closed,
      lifecycleRules: [{ expiration: Duration.days(ACCESS_LOG_DAYS) }],
    });
    Validations.of(accessLog).acknowledge({
      id: "AwsSolutions-S1",
      reason: "This bucket holds the other one's access log; logging its own would never end",
    });
    this.replication = replicationTo(this, options.replicaBucket, {
      source: this.arn,
      nagSource: nagArn,
      locked: this.lockDays !== undefined,
    });
    this.backups = new Bucket(this, "backups", {
      ...closed,
      bucketName,
      versioned: true,
      // The CDK's class and its interface differ only in an optional property, which `exactOptionalPropertyTypes` rejects.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      serverAccessLogsBucket: accessLog as IBucket,
      serverAccessLogsPrefix: "backups/",
      lifecycleRules: [
        // Customers' uploads that the service has lost track of end a day after they expire. The parts of a failed import may
        // wait for another try.
        { abortIncompleteMultipartUploadAfter: Duration.days(UPLOAD.days + UPLOAD.failedImportDays + 1) },
        { noncurrentVersionExpiration: Duration.days(this.recoverDays), expiredObjectDeleteMarker: true },
      ],
      ...this.replication,
    });
    if (settings.protectData) this.deny(FOR_GOOD, splitList(options.archiveAdmins));
    if (this.lockDays !== undefined) this.lock(this.lockDays);
  }

  statementsFor(access: StoreAccess): PolicyStatement[] {
    const { [access]: onBucket } = BUCKET_ACTIONS;
    return [allowS3(OBJECT_ACTIONS[access], `${this.arn}/*`), ...(onBucket === undefined ? [] : [allowS3(onBucket, this.arn)])];
  }

  /** The dashboard sends parts of archives to presigned URLs, and reads nothing. */
  allowUploadsFrom(dashboard: string): void {
    this.backups.addCorsRule({
      allowedOrigins: [dashboard],
      allowedMethods: [HttpMethods.PUT],
      allowedHeaders: ["x-amz-checksum-sha256"],
      maxAge: 3600,
    });
  }

  /**
   * Denies the actions to everyone in the account but the role with which CloudFormation works, and these. The account's root
   * user can remove the policy.
   */
  private deny(actions: readonly string[], admins: readonly string[]): void {
    const { synthesizer } = Stack.of(this);
    if (!(synthesizer instanceof DefaultStackSynthesizer)) throw new Error("The stack must be deployed by the CDK's usual roles");
    const deployment = Fn.sub(synthesizer.cloudFormationExecutionRoleArn);
    const adminArns = admins.map((name) => `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role/${name}`);
    this.backups.addToResourcePolicy(
      new PolicyStatement({
        sid: "NothingForGood",
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: actions.map((action) => `s3:${action}`),
        resources: [this.arn, `${this.arn}/*`],
        conditions: { ArnNotLike: { "aws:PrincipalArn": [deployment, ...adminArns] } },
      }),
    );
  }

  /**
   * New versions, by the bucket's default. Not by the CDK's own property, which also sets the bucket's `ObjectLockEnabled`: that
   * can only be set when a bucket is created, so an existing one would be replaced.
   */
  private lock(Days: number): void {
    const { defaultChild } = this.backups.node;
    if (!(defaultChild instanceof CfnBucket)) throw new Error("The bucket is not what the CDK made of a bucket before");
    defaultChild.addPropertyOverride("ObjectLockConfiguration", {
      ObjectLockEnabled: "Enabled",
      ...(Days > 0 && { Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days } } }),
    });
  }
}

const allowS3 = (actions: readonly string[], resource: string): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `s3:${action}`), resources: [resource] });
