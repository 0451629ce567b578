// What a request costs: the calls that its functions make.
import type { Served } from "./aws.ts";
import type { ApiResponse } from "./client.ts";
import type { TestCloud } from "./facts.ts";

interface Cost {
  authorizer: Served[];
  handler: Served[];
  starts: Served[];
}

/**
 * The calls of a request: the authorizer's, and those of the endpoint's own function. What a busy machine made them try again
 * does not count.
 */
export async function costIn(
  cloud: TestCloud,
  id: string,
  request: () => Promise<ApiResponse>,
): Promise<Cost & { response: ApiResponse }> {
  const functionName = new RegExp(`-api${id.replace(".", "")}[0-9A-F]{8}$`, "i");
  const calls: Served[] = [];
  const stop = cloud.aws.calls.subscribe((call) => calls.push(call));
  const response = await request();
  stop();
  const by = (pattern: RegExp, service: string) =>
    calls.filter((call) => call.attempt === 1 && pattern.test(call.principal) && call.service === service);
  return {
    response,
    authorizer: by(/authorize/i, "dynamodb"),
    handler: by(functionName, "dynamodb"),
    starts: by(functionName, "states"),
  };
}
