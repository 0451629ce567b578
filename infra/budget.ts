// A monthly budget of the AWS account. It counts the account and not the stack: costs are told apart by a tag only once somebody
// has activated the tag in the account's billing settings, and until then such a budget would read 0 and never alarm.
import { Aws } from "aws-cdk-lib";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

interface Props {
  environment: Environment;
  dollars: number;
  topic: Topic;
}

/** Alarms when the month's costs have reached the amount, and before, when AWS forecasts that they will. */
export function budget(scope: Construct, id: string, { environment, dollars, topic }: Props): void {
  const subscribers = [{ subscriptionType: "SNS", address: topic.topicArn }];
  const created = new CfnBudget(scope, id, {
    budget: {
      // All regions of an account share these names.
      budgetName: `${stackName(environment)}-${Aws.REGION}`,
      budgetType: "COST",
      timeUnit: "MONTHLY",
      budgetLimit: { amount: dollars, unit: "USD" },
      // What credits pay is a bill as soon as they are used up.
      costTypes: { includeCredit: false, includeRefund: false },
    },
    notificationsWithSubscribers: ["ACTUAL", "FORECASTED"].map((notificationType) => ({
      notification: { notificationType, comparisonOperator: "GREATER_THAN", threshold: 100, thresholdType: "PERCENTAGE" },
      subscribers,
    })),
  });
  // AWS checks at once whether it may publish.
  created.node.addDependency(topic);
}
