// The document that API Gateway imports, in a linter's judgment: this is all of the import that can be tried without AWS.
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, inject, test } from "vitest";
import * as z from "zod";
import { open, listResources } from "../../infra/local/template/resolve.ts";
import { stackName } from "../../infra/settings.ts";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";

const Operation = z.looseObject({ responses: z.record(z.string(), z.json()) });
const Body = z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.record(z.string(), Operation)) });
const ID = { name: "id", in: "path", required: true, schema: { type: "string" } };
type Body = z.infer<typeof Body>;

function bodyOf(environment: (typeof ENVIRONMENTS)[number]): Body {
  const resources = listResources(open(inject("outDir"), stackName(environment)));
  return Body.parse(resources.find(({ type }) => type === "AWS::ApiGateway::RestApi")?.properties["Body"]);
}

/**
 * A linter ignores what extensions contain, and knows no greedy parameters: with a verb and a plain parameter it looks at all
 * methods.
 */
const plain = ({ paths, ...body }: Body): Body => ({
  ...body,
  paths: Object.fromEntries(
    Object.entries(paths).map(([path, { "x-amazon-apigateway-any-method": any, ...methods }]) => [
      path.replace("+}", "}"),
      any === undefined ? methods : { ...methods, trace: any },
    ]),
  ),
});

const lint = async (body: Body): Promise<string[]> => {
  // Public routes have no security. What the others demand is checked when the template is read.
  const config = await createConfig({ extends: ["spec"], rules: { "security-defined": "off" } });
  const problems = await lintFromString({ source: JSON.stringify(body), config });
  return problems.map(({ ruleId, message, location: [place] }) => `${ruleId} ${place?.pointer}: ${message}`);
};

test.each(ENVIRONMENTS)(
  "the API of %s is a valid OpenAPI document of a version that API Gateway imports",
  async (environment) => {
    const body = bodyOf(environment);
    expect(body.openapi).toBe("3.0.1");
    expect(await lint(plain(body))).toEqual([]);
  },
);

test.each(ENVIRONMENTS)("the API of %s has only paths and statuses that API Gateway imports", (environment) => {
  const { paths } = bodyOf(environment);
  for (const [path, methods] of Object.entries(paths)) {
    // A parameter is a whole segment, and a greedy one the last.
    expect(path).toMatch(/^(\/|(\/([\w.-]+|\{\w+\}))*(\/\{\w+\+\})?)$/);
    // API Gateway ignores a "default" response of a method with a warning, and a warning fails the import.
    for (const { responses } of Object.values(methods)) expect(Object.keys(responses).join()).toMatch(/^\d{3}$/);
  }
});

test.each([
  ["a parameter of the path", { responses: { 200: { description: "OK" } } }, "path-parameters-defined"],
  ["the description of a response", { parameters: [ID], responses: { 200: {} } }, "struct"],
])("the linter misses %s", async (_, any, rule) => {
  const problems = await lint(plain({ ...bodyOf("test"), paths: { "/a/{id}": { "x-amazon-apigateway-any-method": any } } }));
  expect(problems).toEqual([expect.stringContaining(rule)]);
});
