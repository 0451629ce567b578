// The queues between what is to be delivered to webhooks and the function that delivers. Receivers that do not respond in time
// have one of their own, so that they take no capacity from the others.
import { Duration, Validations } from "aws-cdk-lib";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

/** How many runs at a time take messages of each. */
export const RUNS_AT_ONCE = { deliveries: 50, slow: 5 } as const;
export type QueueName = keyof typeof RUNS_AT_ONCE;

export const QUEUE_VARIABLES: Readonly<Record<QueueName, string>> = { deliveries: "DELIVERIES_QUEUE", slow: "SLOW_QUEUE" };

/** A run takes a minute at most. AWS advises six times as much. */
export const DELIVER_SECONDS = 60;

export class Deliveries extends Construct {
  readonly queues: Readonly<Record<QueueName, Queue>>;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queues = { deliveries: this.queue("deliveries"), slow: this.queue("slow") };
  }

  private queue(name: QueueName): Queue {
    const queue = new Queue(this, name, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(6 * DELIVER_SECONDS),
      // A lost message loses nothing: the sweep finds again what is due.
      retentionPeriod: Duration.hours(1),
    });
    Validations.of(queue).acknowledge({
      id: "AwsSolutions-SQS3",
      reason: "The sweep finds again what a lost message was for",
    });
    return queue;
  }
}
