// What differs between the two environments, in one table. Everything else is the same in both. Without CDK, which takes half a
// second to load: the operator's commands read this, too.

import type { Environment } from "../shared/domain/environments.ts";

export interface PollLimits {
  /** Caps of what a workflow's table says. */
  upToMinutes: number;
  firstWaitSeconds: number;
}

export interface Settings {
  /** In place of what the workflows' tables say. */
  polls: PollLimits | undefined;
  /** Whether customers' data outlives a mistaken deletion: of the table, of the stack, of the bucket. */
  protectData: boolean;
  logDays: 30 | 365;
  /** Of each method, per second: a last bound. The limits of the contract are per credential, and the authorizer's. */
  requestsPerSecond: number;
  requestsBurst: number;
  logLevel: "INFO" | "DEBUG";
  /** Whether machines are real: there is then a secret with the operator's credentials, and a catalog to refresh. */
  rents: boolean;
  /** The key between CloudFront and the functions. One more, deployed, is another key; the one before goes on being accepted. */
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

/** A name of our own, so that the operator's commands find the table without asking CloudFormation. */
export const tableName = (environment: Environment): string => `${stackName(environment)}-table`;

/** A state machine's name, by which the executions of its kind of work are found. */
export const machineName = (environment: Environment, workflow: string): string => `${stackName(environment)}-${workflow}`;
