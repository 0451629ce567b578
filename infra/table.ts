// The only table, with its four indexes; shared/data/keys.ts lists its items.
import { AttributeType, Billing, ProjectionType, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { chooseRemoval } from "./removal.ts";
import { type Settings, tableName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

/** Partition key of each index; all sort by `number`, the zero-padded number of a record with its id behind it. */
export const INDEXES = {
  byNumber: "list",
  byStatus: "list_status",
  byParent: "list_parent",
  byProtection: "list_protection",
} as const;

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** `guarded` against deletion, other than by a stack's rollback: docs/deploy.md, "The first deployment". */
export function table(
  scope: Construct,
  environment: Environment,
  settings: Settings,
  { guarded }: { guarded: boolean },
): TableV2 {
  return new TableV2(scope, "table", {
    tableName: tableName(environment),
    partitionKey: text("pk"),
    sortKey: text("sk"),
    globalSecondaryIndexes: Object.entries(INDEXES).map(([indexName, partition]) => ({
      indexName,
      partitionKey: text(partition),
      sortKey: text("number"),
      // Lists return whole records: a second read for each would cost more than the copies do.
      projectionType: ProjectionType.ALL,
    })),
    // New items of the outbox invoke `dispatch`, which reads the items themselves.
    dynamoStream: StreamViewType.KEYS_ONLY,
    billing: Billing.onDemand(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveAttribute: "ttl",
    deletionProtection: guarded,
    removalPolicy: chooseRemoval(settings),
  });
}
