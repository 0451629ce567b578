// The bucket for archives of backups, and the log of its downloads.
import { Aws, Duration, Fn, Stack, Validations } from "aws-cdk-lib";
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, type IBucket, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { removalOf } from "./removal.ts";
import { UPLOAD } from "../shared/domain/limits.ts";
import type { Settings } from "./settings.ts";

/** How long an operator can recover an archive that was deleted or replaced. */
const NONCURRENT_DAYS = 30;
const ACCESS_LOG_DAYS = 90;

/** A bucket that others refer to without waiting for it. */
export interface NamedBucket {
  bucketName: string;
  bucketArn: string;
  /** Its ARN as findings of cdk-nag spell it. */
  nagArn: string;
}

export class Storage extends Construct {
  readonly backups: Bucket;
  /** By the name that it gets: the bucket waits for the dashboard, which may upload to it, and the dashboard for the functions. */
  readonly named: NamedBucket;
  /** What the URLs of archives begin with. */
  readonly url: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    // Unique to the stack, and as long as a name may be.
    const prefix = Stack.of(this).stackName.toLowerCase();
    const bucketName = Fn.join("-", [prefix, Fn.select(2, Fn.split("/", Aws.STACK_ID))]);
    this.named = {
      bucketName,
      bucketArn: `arn:${Aws.PARTITION}:s3:::${bucketName}`,
      nagArn: `arn:<AWS::Partition>:s3:::${prefix}-{"Fn::Select":[2,{"Fn::Split":["/",{"Ref":"AWS::StackId"}]}]}`,
    };
    this.url = `https://s3.${Aws.REGION}.amazonaws.com/${bucketName}/`;
    const closed = {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      removalPolicy: removalOf(settings),
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
    this.backups = new Bucket(this, "backups", {
      ...closed,
      bucketName,
      versioned: true,
      // The CDK's class and its interface differ only in an optional property, which `exactOptionalPropertyTypes` rejects.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      serverAccessLogsBucket: accessLog as IBucket,
      serverAccessLogsPrefix: "backups/",
      lifecycleRules: [
        // Of customers' uploads that the service has lost track of: a day after they expire. The parts of a failed import may wait for another try.
        { abortIncompleteMultipartUploadAfter: Duration.days(UPLOAD.days + UPLOAD.failedImportDays + 1) },
        { noncurrentVersionExpiration: Duration.days(NONCURRENT_DAYS), expiredObjectDeleteMarker: true },
      ],
    });
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
}
