// What the deployed gateway does with a request: each method with its function and whether the authorizer comes first, and its
// own errors.
import type { Template } from "../../infra/local/template/template.ts";

export const GATEWAY = "gateway.txt";

export function gatewayText({ apis: [api], functions }: Template): string {
  if (api === undefined) throw new Error("The template has no API");
  const nameOf = new Map(functions.map(({ arn, logicalId }) => [arn, logicalId]));
  const methods = api.resources.flatMap(({ path, methods: of }) =>
    of.map(({ httpMethod, authorizer, functionArn, timeoutMilliseconds }) =>
      [
        `${httpMethod} ${path}`,
        nameOf.get(functionArn),
        authorizer === undefined ? "open" : "authorized",
        `${timeoutMilliseconds} ms`,
      ].join("  "),
    ),
  );
  const errors = api.gatewayResponses.map(({ type, statusCode, responseParameters, responseTemplates }) =>
    [
      `${type}: ${statusCode ?? "the gateway's own status"}`,
      ...Object.entries(responseParameters).map(([name, value]) => `  ${name}: ${value}`).toSorted(),
      ...Object.entries(responseTemplates).map(([name, value]) => `  ${name} ${value}`),
    ].join("\n"),
  );
  return `${[`compressed from ${api.minimumCompressionSize} bytes`, ...methods.toSorted(), ...errors.toSorted()].join("\n")}\n`;
}
