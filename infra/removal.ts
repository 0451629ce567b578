// What happens to data, secrets and logs when their stack is removed, or their region is lost.
import { RemovalPolicy } from "aws-cdk-lib";
import { type LogGroupProps, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { SecretProps } from "aws-cdk-lib/aws-secretsmanager";
import type { Settings } from "./settings.ts";

/**
 * What a failed creation of a stack left is removed in any case: it is empty, and anything with a fixed name would block the next
 * try.
 */
export const chooseRemoval = ({ protectData }: Settings): RemovalPolicy =>
  protectData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;

/** How a secret is kept. */
export interface Kept {
  settings: Settings;
  /** Other regions that have it, too. */
  replicas: readonly string[];
}

export const keptAs = ({ settings, replicas }: Kept): Pick<SecretProps, "removalPolicy" | "replicaRegions"> => ({
  removalPolicy: chooseRemoval(settings),
  ...(replicas.length > 0 && { replicaRegions: replicas.map((region) => ({ region })) }),
});

const RETENTION = { 30: RetentionDays.ONE_MONTH, 365: RetentionDays.ONE_YEAR } as const;

export const chooseLogs = (settings: Settings): LogGroupProps => ({
  retention: RETENTION[settings.logDays],
  removalPolicy: chooseRemoval(settings),
});
