// The differences between the two environments, in one table. Everything else is the same in both. Without the CDK, which takes
// half a second to load: the operator's commands read this file, too.

import type { Environment } from "../shared/domain/environments.ts";

export interface PollLimits {
  /** Caps of what a workflow's table says. */
  upToMinutes: number;
  firstWaitSeconds: number;
}

export interface Settings {
  /** Replaces the values of the workflows' tables. */
  polls: PollLimits | undefined;
  /** Whether customers' data survives an accidental deletion of the table, the stack or the bucket. */
  protectData: boolean;
  logDays: 30 | 365;
  /** Per method and second: a last limit. The API's limits (docs/api.md) are per credential, and in the authorizer. */
  requestsPerSecond: number;
  requestsBurst: number;
  logLevel: "INFO" | "DEBUG";
  /** Whether machines are real: then there is a secret with the operator's credentials, and a catalog to refresh. */
  rents: boolean;
  /**
   * The number of the key between CloudFront and the functions. A higher one, deployed, is a new key; the functions still accept
   * the previous one.
   */
  originKey: number;
}

export const SETTINGS: Readonly<Record<Environment, Settings>> = {
  test: {
    polls: { upToMinutes: 3, firstWaitSeconds: 1 }, // the sandbox takes seconds
    protectData: false,
    logDays: 30,
    requestsPerSecond: 50,
    requestsBurst: 100,
    logLevel: "DEBUG",
    rents: false,
    originKey: 1,
  },
  live: {
    polls: undefined,
    protectData: true,
    logDays: 365,
    requestsPerSecond: 200,
    requestsBurst: 400,
    logLevel: "INFO",
    rents: true,
    originKey: 1,
  },
};

export const stackName = (environment: Environment): string => `ErpControlPlane-${environment}`;

/** The stack of what AWS has in us-east-1 only: the firewall of CloudFront, and the metrics of health checks. */
export const edgeStackName = (environment: Environment): string => `${stackName(environment)}-edge`;
export const EDGE_REGION = "us-east-1";

/**
 * Runs of each scheduled function that nothing else can keep from starting: two, because one may last until after the next has
 * begun.
 */
export const RESERVED_EACH = 2;
/** All of them together, at most. */
export const RESERVED_MAX = 20;

/** Our own name, so that the operator's commands find the table without asking CloudFormation. */
export const tableName = (environment: Environment): string => `${stackName(environment)}-table`;

/** A state machine's name, which identifies the executions of its workflow. */
export const stateMachineName = (environment: Environment, workflow: string): string => `${stackName(environment)}-${workflow}`;
