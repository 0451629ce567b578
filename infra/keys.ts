// The service's own secrets: `session` signs JWTs, `sealing` encrypts what must not be stored in plain text, `hosts` signs in to
// machines.
import { Validations } from "aws-cdk-lib";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import type { KeyName } from "../shared/domain/grants.ts";
import { type Kept, keptAs } from "./removal.ts";

const PURPOSE: Readonly<Record<KeyName, string>> = {
  session: "Signs the dashboard's sessions (JWT)",
  sealing: "Encrypts generated passwords and stored responses until they are used",
  hosts: "The SSH keys of the service follow from it: with these it signs in to machines",
};

export class Keys extends Construct {
  readonly secrets: Readonly<Record<KeyName, Secret>>;

  constructor(scope: Construct, id: string, protection: Kept) {
    super(scope, id);
    this.secrets = {
      session: this.secret("session", protection),
      sealing: this.secret("sealing", protection),
      hosts: this.secret("hosts", protection),
    };
  }

  private secret(name: KeyName, protection: Kept): Secret {
    const secret = new Secret(this, name, {
      description: PURPOSE[name],
      // 64 letters and digits are 380 random bits; the functions hash them to a key's 256.
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      ...keptAs(protection),
    });
    Validations.of(secret).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "Rotated by storing a new value (docs/deploy.md): functions accept the current and the previous version, so a timer is not needed",
    });
    return secret;
  }
}
