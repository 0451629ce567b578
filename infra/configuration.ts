// The secret that the operator fills in: credentials of providers, their own machines, the URL of the enterprise edition.
import { SecretValue, Validations } from "aws-cdk-lib";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { type Kept, keptAs } from "./removal.ts";

/** Empty until an operator sets it (docs/deploy.md); later deployments do not change it, because this text stays the same. */
const NOTHING = "{}";

export function configuration(scope: Construct, id: string, protection: Kept): Secret {
  const secret = new Secret(scope, id, {
    description:
      "Set by the operator: credentials of providers, the operator's own machines, and the source of the enterprise edition",
    secretStringValue: SecretValue.unsafePlainText(NOTHING),
    ...keptAs(protection),
  });
  Validations.of(secret).acknowledge({
    id: "AwsSolutions-SMG4",
    reason: "Credentials of accounts at other companies, which only the operator can renew",
  });
  return secret;
}
