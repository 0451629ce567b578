// The order in which a deployment's stacks are deployed, and what cdk.json is told on the way: what fails later begins with what
// has been deployed.
import { type Chosen, needsEdge, NONE } from "./deploy-settings.ts";
import { edgeStackName, SETTINGS, stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

interface RollOut {
  environment: Environment;
  /** The options of cdk.json and those of the command line. */
  options: Chosen;
  /** Whether the stack's creation has succeeded once. */
  isComplete: boolean;
  /** Whether the account allows schedules a reservation. */
  reserved: boolean;
  /** Deploys a stack, and returns its outputs. */
  deployStack: (stack: string, options: Chosen) => Promise<Record<string, string>>;
  /** Stores options in cdk.json, or removes them, and returns all. */
  store: (changes: Readonly<Record<string, string>>) => Promise<Chosen>;
}

/** The stack's outputs, and the edge stack that nothing needs any more. */
export async function rollOut({ environment, options, isComplete, reserved, deployStack, store }: RollOut) {
  const { protectData } = SETTINGS[environment];
  const { webAcl, front, protected: _, reserved: __, requestsPerAddress, ...otherOptions } = options;
  // A firewall goes only after CloudFront has left it, and comes before CloudFront uses it.
  const first: Chosen = {
    ...otherOptions,
    ...(requestsPerAddress !== undefined && { requestsPerAddress, ...(webAcl !== undefined && { webAcl }) }),
    ...(reserved && { reserved: "true" }),
    // Protection is off during the creation, or a failed one could not be cleaned up.
    ...(protectData && isComplete && { protected: "true" }),
  };
  const outputs = await deployStack(stackName(environment), first);
  let stored = await store({ protected: protectData ? "true" : NONE, reserved: reserved ? "true" : NONE });
  if (needsEdge(stored)) {
    const host = new URL(outputs["Dashboard"] ?? "").host;
    const { WebAcl = NONE } = await deployStack(edgeStackName(environment), { ...stored, front: host });
    stored = await store({ front: host, webAcl: WebAcl });
  } else if (front !== undefined) stored = await store({ front: NONE, webAcl: NONE });
  if (first.protected !== stored.protected || first.webAcl !== stored.webAcl) await deployStack(stackName(environment), stored);
  return { outputs, unneededEdge: front !== undefined && !needsEdge(stored) };
}
