// The key that proves to the API's functions that a request came through CloudFront.
import { Validations } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { ORIGIN_KEYS } from "../shared/runtime/origin.ts";

export class OriginKey extends Construct {
  /** A reference that CloudFormation resolves during the deployment: the key is not in the template. */
  readonly sent: string;
  /** The functions that know it; CloudFront may send it only after they do. */
  readonly functions: LambdaFunction[] = [];
  /** The key, and the previous one, which CloudFront sends until the new one is everywhere. */
  private readonly accepted: string;

  constructor(scope: Construct, id: string, { number }: { number: number }) {
    super(scope, id);
    this.sent = this.key(number);
    this.accepted = number > 1 ? `${this.sent} ${this.key(number - 1)}` : this.sent;
  }

  /** Gives the key only to functions that requests reach first: a template may refer to a secret sixty times. */
  shareWith(handler: LambdaFunction): void {
    handler.addEnvironment(ORIGIN_KEYS, this.accepted);
    this.functions.push(handler);
  }

  private key(number: number): string {
    const secret = new Secret(this, String(number), {
      description: "Proves to the API's functions that a request came through CloudFront",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    Validations.of(secret).acknowledge({
      id: "AwsSolutions-SMG4",
      reason: "CloudFormation reads it only when it deploys: another number in infra/settings.ts is another key",
    });
    // A user who may read the configuration of the distribution or a function can read the key there; it opens nothing by itself.
    return secret.secretValue.unsafeUnwrap();
  }
}
