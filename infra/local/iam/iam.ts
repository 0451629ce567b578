// Whether a principal's policies allow a call, as IAM would decide, with a cache.
import { runSimulation } from "@cloud-copilot/iam-simulate";
import { LocalError } from "../errors.ts";

export type PolicyDocument = Readonly<Record<string, unknown>>;
export type Context = Record<string, string | string[]>;

/** One permission that a call needs. `context` is only called for policies that have conditions. */
export interface Need {
  action: string;
  resource: string;
  context?: (() => Promise<Context>) | undefined;
}

const REMEMBERED = 5_000; // decisions per principal; without a limit, S3 keys would make it grow
const memories = new WeakMap<readonly PolicyDocument[], { conditional: boolean; decisions: Map<string, boolean> }>();

/** The cache knows `policies` by identity: keep one array per principal, and create a new one to change them. */
export async function allows(policies: readonly PolicyDocument[], accountId: string, need: Need): Promise<boolean> {
  let memory = memories.get(policies);
  if (memory === undefined) {
    memory = { conditional: JSON.stringify(policies).includes('"Condition"'), decisions: new Map() };
    memories.set(policies, memory);
  }
  const contextVariables = memory.conditional ? { "aws:SecureTransport": "true", ...(await need.context?.()) } : {};
  const question = JSON.stringify([need.action, need.resource, contextVariables]);
  let decision = memory.decisions.get(question);
  if (decision === undefined) {
    decision = await simulate(policies, accountId, need, contextVariables);
    if (memory.decisions.size >= REMEMBERED) memory.decisions.clear();
    memory.decisions.set(question, decision);
  }
  return decision;
}

async function simulate(
  policies: readonly PolicyDocument[],
  accountId: string,
  need: Need,
  contextVariables: Context,
): Promise<boolean> {
  // In a call these are plain characters of an object's key; the simulator would treat them as patterns.
  const resource = need.resource === "*" ? "*" : need.resource.replaceAll(/[*?]/g, "_");
  const result = await runSimulation(
    {
      request: {
        principal: `arn:aws:sts::${accountId}:assumed-role/local/local`,
        action: need.action,
        resource: { resource, accountId },
        contextVariables,
      },
      identityPolicies: policies.map((policy, position) => ({ name: `policy ${position + 1}`, policy })),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  if (result.resultType !== "error") return result.overallResult === "Allowed";
  if (result.errors.identityPolicyErrors !== undefined)
    throw new LocalError(`A policy of the template is not valid: ${JSON.stringify(result.errors.identityPolicyErrors)}`);
  return false; // an action that IAM does not know, or that takes no such resource
}
