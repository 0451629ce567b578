// A cloud for tests, and what another process needs to know about it.
import type { Aws } from "../../infra/local/aws/aws.ts";
import { type Cloud, type CloudOptions, startCloud, variableOf } from "../../infra/local/cloud.ts";
import { stackName } from "../../infra/settings.ts";
import { type Faults, faultsIn } from "./aws.ts";

const ENVIRONMENT = "test";

/** What a test's process needs to know about a cloud in another process. */
export interface CloudFacts {
  apiUrl: string;
  /** The variables for the data functions and the service's keys, called as the operator. */
  environment: Record<string, string>;
}

/** The variable for the functions, and for what tests do on the sandbox's machines directly. */
const AT_ONCE = { SANDBOX_TIME_SCALE: "0" };

/** A cloud of this process, of which a test sees and disturbs the calls of AWS. */
export type TestCloud = Cloud & { aws: Aws & Faults };

/**
 * Starts a cloud in memory, with an instant sandbox, polls after hundredths of a second, and schedules that run only when fired.
 */
export async function startTestCloud(
  outDir: string,
  databaseUrl: string,
  options: Partial<CloudOptions> = {},
): Promise<TestCloud> {
  const cloud = await startCloud({
    outDir,
    stack: stackName(ENVIRONMENT),
    environment: AT_ONCE,
    timeScale: 0.02,
    schedules: false,
    ...(options.dataDir === undefined && { databaseUrl }),
    ...options,
  });
  const database = { url: cloud.databaseUrl, accessKeyId: cloud.operator.accessKeyId };
  return { ...cloud, aws: { ...cloud.aws, ...faultsIn(cloud.aws, database) } };
}

/** The one that the operator's commands and the data functions use. */
const VARIABLES = ["ENVIRONMENT", "TABLE_NAME", "SESSION_KEY", "SEALING_KEY", "HOSTS_KEY", "BACKUP_BUCKET"] as const;

export function factsOf(cloud: Cloud): CloudFacts {
  const entries = VARIABLES.map((name) => [name, variableOf(cloud.template, name) ?? ""]);
  const environment = {
    ...cloud.operator.environment,
    // Calls that only tests and operators make need no signature check, which is half of what a call costs.
    AWS_ENDPOINT_URL_DYNAMODB: cloud.databaseUrl,
    ...AT_ONCE,
    ...Object.fromEntries(entries),
  };
  return { apiUrl: cloud.apiUrl, environment };
}
