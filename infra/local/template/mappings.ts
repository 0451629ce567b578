// The event source mappings of a template: which functions the table's stream and the queues invoke.
import * as z from "zod";
import { LocalError } from "../errors.ts";
import type { Resource } from "./resolve.ts";

const Pattern = z.object({
  eventName: z.tuple([z.literal("INSERT")]),
  dynamodb: z.object({ Keys: z.object({ pk: z.object({ S: z.array(z.object({ prefix: z.string() })).min(1) }) }) }),
});

const Properties = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.number().int(),
  FilterCriteria: z.object({ Filters: z.tuple([z.object({ Pattern: z.string() })]) }).optional(),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().int() }).optional(),
});

/** Items with these keys that are added to the table invoke the function. */
export interface StreamMapping {
  functionName: string;
  /** The prefixes of keys: an item's key begins with one of them. */
  keysBeginWith: string[];
  batch: number;
}

/** Messages of the queue invoke the function, one each. */
export interface QueueMapping {
  functionName: string;
  queueArn: string;
  atOnce: number;
}

export interface Mappings {
  streams: StreamMapping[];
  queues: QueueMapping[];
}

export function readMappings(mappings: readonly Resource[]): Mappings {
  const result: Mappings = { streams: [], queues: [] };
  for (const { logicalId, properties } of mappings) {
    const { EventSourceArn, FunctionName, BatchSize, FilterCriteria, ScalingConfig } = Properties.parse(properties);
    if (EventSourceArn.startsWith("arn:aws:sqs:")) {
      if (BatchSize !== 1)
        throw new LocalError(`${logicalId} takes messages in batches: the local runner takes them one at a time`);
      const atOnce = ScalingConfig?.MaximumConcurrency ?? 1000;
      result.queues.push({ functionName: FunctionName, queueArn: EventSourceArn, atOnce });
      continue;
    }
    const [filter] = FilterCriteria?.Filters ?? [];
    const { dynamodb } = Pattern.parse(JSON.parse(filter?.Pattern ?? "{}"));
    result.streams.push({
      functionName: FunctionName,
      keysBeginWith: dynamodb.Keys.pk.S.map(({ prefix }) => prefix),
      batch: BatchSize,
    });
  }
  return result;
}
