// The clouds that tests run against. A file uses the shared one, which it knows by HTTP and by its table, or its own,
// whose calls it can count and whose parts it can turn off.
import { afterAll, inject } from "vitest";
import { type Cloud, type CloudOptions, startCloud, variableOf } from "../../infra/local/cloud.ts";
import { stackName } from "../../infra/settings.ts";
import { useTable } from "./table.ts";

const ENVIRONMENT = "test";

/** What a test's process needs to know about a cloud in another process. */
export interface CloudFacts {
  apiUrl: string;
  /** For the data functions and the service's keys, called as the operator. */
  environment: Record<string, string>;
}

/** For the functions, and for what tests do on the sandbox's machines directly. */
const AT_ONCE = { SANDBOX_TIME_SCALE: "0" };

/** In memory, with an instant sandbox, polls after hundredths of a second, and schedules that run only when fired. */
export const startTestCloud = (outDir: string, databaseUrl: string, options: Partial<CloudOptions> = {}): Promise<Cloud> =>
  startCloud({
    outDir,
    stack: stackName(ENVIRONMENT),
    environment: AT_ONCE,
    timeScale: 0.02,
    schedules: false,
    ...(options.dataDir === undefined && { databaseUrl }),
    ...options,
  });

/** The one that the operator's commands and the data functions use. */
const VARIABLES = ["ENVIRONMENT", "TABLE_NAME", "SESSION_KEY", "SEALING_KEY", "HOSTS_KEY", "BACKUP_BUCKET"] as const;

export function factsOf(cloud: Cloud): CloudFacts {
  const known = VARIABLES.map((name) => [name, variableOf(cloud.template, name) ?? ""]);
  const environment = {
    ...cloud.operator.environment,
    // Calls that only tests and operators make need no signature check, which is half of what a call costs.
    AWS_ENDPOINT_URL_DYNAMODB: cloud.databaseUrl,
    ...AT_ONCE,
    ...Object.fromEntries(known),
  };
  return { apiUrl: cloud.apiUrl, environment };
}

let used: string | undefined;

/** The data functions read the environment once, so a file has one cloud. */
function use({ apiUrl, environment }: CloudFacts): string {
  if (used !== undefined && used !== apiUrl) throw new Error("A test file uses one cloud: the shared one, or one of its own");
  if (used === undefined) Object.assign(process.env, environment);
  used = apiUrl;
  useTable(environment);
  return apiUrl;
}

/** The URL of the cloud that this file uses: the shared one unless it has started its own. */
export const apiUrl = (): string => used ?? use(inject("shared"));

/** A live cloud for the calling file, which polls as often as the test one. */
export const ownLiveCloud = (): Promise<Cloud> => ownCloud({ stack: stackName("live"), timeScale: 0.005 });

/** A cloud for the calling file, stopped at its end. */
export async function ownCloud(options: Partial<CloudOptions> = {}): Promise<Cloud> {
  const cloud = await startTestCloud(inject("outDir"), inject("databaseUrl"), options);
  afterAll(() => cloud.stop());
  use(factsOf(cloud));
  return cloud;
}
