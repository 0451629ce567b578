// Mail: the queue between what is due and the function that sends it, the queue of what could not be sent, and SES's reports of
// mailboxes that bounce.
import { ArnFormat, Duration, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { CfnConfigurationSet, CfnConfigurationSetEventDestination } from "aws-cdk-lib/aws-ses";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Environment } from "../shared/domain/environments.ts";
import type { Brand } from "./dashboard-headers.ts";
import { stackName } from "./settings.ts";

/** Runs at a time: SES allows a new account 14 mails a second. */
export const MAILS_AT_ONCE = 5;
/** A try takes 40 s at most, and its run ends before the next try is due. */
export const SEND_SECONDS = 60;

interface Props {
  environment: Environment;
  /** The address that mails come from; without one nothing is sent. */
  sender: string | undefined;
  brand: Brand | null;
}

export class Mail extends Construct {
  readonly queue: Queue;
  /** The operator's queue of mails that could not be sent, and of messages with which the function failed. */
  readonly unsent: Queue;
  /** What the sending function knows. */
  readonly variables: Readonly<Record<string, string>>;
  private readonly props: Props;
  private readonly configurationSet: string;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    this.props = props;
    const { environment, sender, brand } = props;
    this.configurationSet = stackName(environment);
    const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
    this.unsent = new Queue(this, "unsent", { ...common, retentionPeriod: Duration.days(14) });
    Validations.of(this.unsent).acknowledge({ id: "AwsSolutions-SQS3", reason: "This is the dead-letter queue" });
    this.queue = new Queue(this, "queue", {
      ...common,
      visibilityTimeout: Duration.seconds(6 * SEND_SECONDS),
      // A lost message loses nothing: the sweep finds again what is due.
      retentionPeriod: Duration.hours(1),
      deadLetterQueue: { queue: this.unsent, maxReceiveCount: 3 },
    });
    if (sender !== undefined) this.reports();
    this.variables = {
      MAIL_BRAND: JSON.stringify(brand === null ? {} : { name: brand.name, color: brand.color }),
      ...(sender !== undefined && { MAIL_SENDER: sender, MAIL_CONFIGURATION_SET: this.configurationSet }),
    };
  }

  /** SES reports to EventBridge what happens to mails that are sent with the configuration set. */
  private reports(): void {
    const { ref } = new CfnConfigurationSet(this, "set", { name: this.configurationSet });
    const eventBusArn = Stack.of(this).formatArn({ service: "events", resource: "event-bus", resourceName: "default" });
    new CfnConfigurationSetEventDestination(this, "reports", {
      configurationSetName: ref,
      eventDestination: {
        name: "bounces",
        enabled: true,
        matchingEventTypes: ["bounce", "complaint"],
        eventBridgeDestination: { eventBusArn },
      },
    });
  }

  /** The reports of this deployment's mails. */
  get pattern() {
    return {
      source: ["aws.ses"],
      detail: {
        eventType: ["Bounce", "Complaint"],
        mail: { tags: { "ses:configuration-set": [this.configurationSet] } },
      },
    };
  }

  get sends(): boolean {
    return this.props.sender !== undefined;
  }

  /** Returns statements that allow mail only from this address, whose domain is the identity. */
  statements(): PolicyStatement[] {
    const { sender } = this.props;
    if (sender === undefined) return [];
    const arn = (resource: string, resourceName: string): string =>
      Stack.of(this).formatArn({ service: "ses", resource, resourceName, arnFormat: ArnFormat.SLASH_RESOURCE_NAME });
    return [
      new PolicyStatement({
        actions: ["ses:SendEmail", "ses:SendRawEmail"],
        resources: [arn("identity", sender.slice(sender.lastIndexOf("@") + 1)), arn("configuration-set", this.configurationSet)],
        conditions: { StringEquals: { "ses:FromAddress": sender } },
      }),
    ];
  }
}
