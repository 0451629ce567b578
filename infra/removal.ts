// What becomes of data and logs when what holds them is removed from a stack.
import { RemovalPolicy } from "aws-cdk-lib";
import { type LogGroupProps, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Settings } from "./settings.ts";

/** What a stack's creation made before it failed goes all the same: it holds nothing, and what has a fixed name would stop every later try. */
export const removalOf = ({ protectData }: Settings): RemovalPolicy =>
  protectData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;

const RETENTION = { 30: RetentionDays.ONE_MONTH, 365: RetentionDays.ONE_YEAR } as const;

export const logsOf = (settings: Settings): LogGroupProps => ({
  retention: RETENTION[settings.logDays],
  removalPolicy: removalOf(settings),
});
