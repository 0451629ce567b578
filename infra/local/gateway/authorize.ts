// Calls an API's authorizer for a request, as API Gateway does: it returns a policy, which this evaluates, and a context.
import * as z from "zod";
import { ACCOUNT, REGION } from "../template/resolve.ts";
import type { Authorizer, RestApi } from "../template/api.ts";
import { GatewayError } from "./errors.ts";
import { buildEvent } from "./event.ts";
import type { Exchange } from "./request.ts";

// API Gateway's own limits. A long path exceeds them first.
const METHOD_ARN_BYTES_MAX = 1600;
const POLICY_RESOURCE_MAX = 512;

const List = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const Statement = z.object({
  Effect: z.enum(["Allow", "Deny"]),
  Action: List,
  Resource: List.refine((arns) => arns.every((arn) => arn.length <= POLICY_RESOURCE_MAX), "too long for a policy"),
});
const Authorization = z.object({
  principalId: z.coerce.string(),
  policyDocument: z.object({ Statement: z.union([Statement, z.array(Statement)]).transform((value) => [value].flat()) }),
  context: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});
type Statement = z.infer<typeof Statement>;

function wildcard(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}

function isAllowed(statements: Statement[], methodArn: string): boolean {
  const relevant = statements.filter(
    ({ Action, Resource }) =>
      Action.some((each) => wildcard(each).test("execute-api:Invoke")) && Resource.some((each) => wildcard(each).test(methodArn)),
  );
  return relevant.length > 0 && relevant.every(({ Effect }) => Effect === "Allow");
}

/** Calls the authorizer for each request: nothing is cached here, whatever the template's TTL says. */
export async function authorize(
  api: RestApi,
  { functionArn }: Authorizer,
  exchange: Exchange,
  invoke: (functionName: string, payload: unknown) => Promise<unknown>,
): Promise<void> {
  const methodArn = `arn:aws:execute-api:${REGION}:${ACCOUNT}:${api.id}/${api.stage}/${exchange.method}${exchange.path}`;
  if (Buffer.byteLength(methodArn) > METHOD_ARN_BYTES_MAX) throw new GatewayError("URI_TOO_LONG");
  const result = await invoke(functionArn, { type: "REQUEST", methodArn, ...buildEvent(api, exchange) }).catch(
    (cause: unknown) => {
      throw new GatewayError("AUTHORIZER_FAILURE", cause);
    },
  );
  const parsed = Authorization.safeParse(result);
  if (!parsed.success) throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR", z.prettifyError(parsed.error));
  const { principalId, policyDocument, context } = parsed.data;
  const strings = Object.entries(context).map(([key, value]): [string, string] => [key, String(value)]);
  // This is set before the policy is evaluated: the gateway response of a denied request reads it, too.
  exchange.authorizer = { principalId, ...Object.fromEntries(strings) };
  if (!isAllowed(policyDocument.Statement, methodArn)) throw new GatewayError("ACCESS_DENIED");
}
