// The rules of a template: what starts functions by the clock, and by events.
import * as z from "zod";
import type { Json, Resource } from "./resolve.ts";

// Strict: a target that takes something from its event (InputPath, InputTransformer) would get a different one here.
const Target = z.strictObject({
  Id: z.string(),
  Arn: z.string().includes(":lambda:", "must be a function"),
  /** What the function gets in place of the event, as JSON. */
  Input: z.string().optional(),
  RetryPolicy: z.unknown().optional(),
  DeadLetterConfig: z.unknown().optional(),
});
const RuleProperties = z.object({
  ScheduleExpression: z.string().optional(),
  EventPattern: z.record(z.string(), z.json()).optional(),
  // A rule that is disabled would start its functions here.
  State: z.literal("ENABLED").default("ENABLED"),
  Targets: z.array(Target).default([]),
});
export interface Rule {
  logicalId: string;
  name: string;
  arn: string;
  schedule: string | undefined;
  pattern: Record<string, Json> | undefined;
  targets: z.infer<typeof Target>[];
}

export const readRules = (rules: readonly Resource[]): Rule[] =>
  rules.map(({ logicalId, name, arn, properties }) => {
    const { ScheduleExpression, EventPattern, Targets } = RuleProperties.parse(properties);
    return { logicalId, name, arn, schedule: ScheduleExpression, pattern: EventPattern, targets: Targets };
  });
