// The archives of backups are in the stack's own bucket (storage.ts), or in another S3-compatible store that the operator has
// named.
import { SecretValue, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { buildUrl } from "./deploy-settings.ts";
import { type Kept, keptAs } from "./removal.ts";

/** What a function does with archives. */
export type StoreAccess = "read" | "write" | "upload" | "list parts" | "list and abort uploads" | "remove uploads";

/** What functions and the dashboard need to know of a store. */
export interface Store {
  /** What the URLs of archives begin with. */
  readonly url: string;
  /** The environment of functions that use archives. */
  readonly variables: Readonly<Record<string, string>>;
  /** What such a function may do in AWS. */
  readonly statementsFor: (access: StoreAccess) => PolicyStatement[];
  /** Resources in these statements that stand for many, as findings of cdk-nag spell them, with the reason. */
  readonly wildcards: readonly { resource: string; reason: string }[];
}

/** Another store, as the operator names it. */
export interface StorePlace {
  /** Its origin, without a bucket. */
  endpoint: string;
  bucket: string;
  region: string;
}

/** What the secret has until the operator fills it in; later deployments do not change it, because this text stays the same. */
const NO_KEYS = JSON.stringify({ access_key_id: "", secret_access_key: "" });

/** Its keys are in a secret. Nothing in AWS holds archives, so functions need rights for the secret alone. */
export class OtherStore extends Construct implements Store {
  readonly keys: Secret;
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly wildcards = [];

  constructor(scope: Construct, id: string, { location, ...protection }: { location: StorePlace } & Kept) {
    super(scope, id);
    this.url = buildUrl(location.endpoint, location.bucket);
    this.keys = new Secret(this, "keys", {
      description: "Set by the operator: the keys of the store for archives of backups",
      secretStringValue: SecretValue.unsafePlainText(NO_KEYS),
      ...keptAs(protection),
    });
    Validations.of(this.keys).acknowledge({
      id: "AwsSolutions-SMG4",
      reason: "Keys of an account at another company, which only the operator can renew",
    });
    this.variables = {
      BACKUP_BUCKET: location.bucket,
      BACKUP_S3_ENDPOINT: new URL(location.endpoint).origin,
      BACKUP_S3_REGION: location.region,
      BACKUP_S3_SECRET: this.keys.secretArn,
    };
  }

  statementsFor(): PolicyStatement[] {
    return [new PolicyStatement({ actions: ["secretsmanager:GetSecretValue"], resources: [this.keys.secretArn] })];
  }
}
