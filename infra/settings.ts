// What differs between the two environments, in one table. Everything else is the same in both.
import { RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";

export const ENVIRONMENTS = ["test", "live"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export interface PollLimits {
  everySeconds: number;
  /** Caps what a workflow's table says, because an execution may have 25,000 events and asking once has 9. */
  upToMinutes: number;
}

export interface Settings {
  /** In place of what the workflows' tables say. */
  polls: PollLimits | undefined;
  /** Whether customers' data outlives a mistaken deletion: of the table, of the stack, of the bucket. */
  protectData: boolean;
  dataRemoval: RemovalPolicy;
  logRetention: RetentionDays;
  /** Of the whole API, per second. The limits of the contract are per credential, and the authorizer's. */
  requestsPerSecond: number;
  requestsBurst: number;
  logLevel: "INFO" | "DEBUG";
}

export const SETTINGS: Readonly<Record<Environment, Settings>> = {
  test: {
    // The sandbox takes seconds. Ten minutes at one a second are 600 asks: four polls in a row stay under 25,000 events.
    polls: { everySeconds: 1, upToMinutes: 10 },
    protectData: false,
    dataRemoval: RemovalPolicy.DESTROY,
    logRetention: RetentionDays.ONE_MONTH,
    requestsPerSecond: 50,
    requestsBurst: 100,
    logLevel: "DEBUG",
  },
  live: {
    polls: undefined,
    protectData: true,
    dataRemoval: RemovalPolicy.RETAIN,
    logRetention: RetentionDays.ONE_YEAR,
    requestsPerSecond: 200,
    requestsBurst: 400,
    logLevel: "INFO",
  },
};

export const stackName = (environment: Environment): string => `ErpControlPlane-${environment}`;

/** A name of our own, so that the operator's commands find the table without asking CloudFormation. */
export const tableName = (environment: Environment): string => `${stackName(environment)}-table`;
