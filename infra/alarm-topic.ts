// The topic that alarms go to, encrypted, and the services that may publish to it.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";
import { serviceForUs } from "./principals.ts";

interface Props {
  /** What it is called in emails. */
  name: string;
  /** Service principals. */
  publishers: readonly string[];
  email: string | undefined;
}

export function alarmTopic(scope: Construct, { name, publishers, email }: Props): Topic {
  // AWS's own key for SNS does not let these services in, so the topic needs its own.
  const key = new Key(scope, "key", {
    description: name,
    enableKeyRotation: true,
    pendingWindow: Duration.days(7),
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const topic = new Topic(scope, "topic", { displayName: name, masterKey: key, enforceSSL: true });
  // This grants the use of the key, too.
  for (const publisher of publishers) topic.grantPublish(serviceForUs(publisher));
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
}
