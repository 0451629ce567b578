// The bucket for archives of backups, and the log of its downloads.
import { Duration, Validations } from "aws-cdk-lib";
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { removalOf } from "./removal.ts";
import type { Settings } from "./settings.ts";

/** How long an operator can recover an archive that was deleted or replaced. */
const NONCURRENT_DAYS = 30;
const ACCESS_LOG_DAYS = 90;

export class Storage extends Construct {
  readonly backups: Bucket;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
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
      versioned: true,
      // The CDK's class and its interface differ only in an optional property, which `exactOptionalPropertyTypes` rejects.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      serverAccessLogsBucket: accessLog as IBucket,
      serverAccessLogsPrefix: "backups/",
      lifecycleRules: [
        { abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { noncurrentVersionExpiration: Duration.days(NONCURRENT_DAYS), expiredObjectDeleteMarker: true },
      ],
    });
  }
}
