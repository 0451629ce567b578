// The template as the local runner reads it: it resolves every reference, to the same values at every start.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTemplate } from "../../infra/local/template/template.ts";

const queue = (policy: unknown) => ({ Type: "AWS::Events::Rule", Properties: { EventPattern: { v: [policy] }, Targets: [] } });

function read(template: unknown) {
  const outDir = mkdtempSync(join(tmpdir(), "template-"));
  writeFileSync(join(outDir, "S.template.json"), JSON.stringify(template));
  return readTemplate(outDir, "S");
}

test.each<[string, unknown, unknown]>([
  ["Ref of a table is its name", { Ref: "T" }, "S-T"],
  ["GetAtt Arn of a table", { "Fn::GetAtt": ["T", "Arn"] }, "arn:aws:dynamodb:us-east-1:000000000000:table/S-T"],
  ["Ref of a state machine is its ARN", { Ref: "M" }, "arn:aws:states:us-east-1:000000000000:stateMachine:given"],
  ["GetAtt Name of a state machine", { "Fn::GetAtt": ["M", "Name"] }, "given"],
  ["a bucket's name is lower case", { Ref: "B" }, "s-b"],
  ["Join", { "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] }, "a-us-east-1"],
  ["Sub", { "Fn::Sub": "${AWS::AccountId}/${T}" }, "000000000000/S-T"],
  ["Select of Split", { "Fn::Select": [1, { "Fn::Split": [":", "a:b:c"] }] }, "b"],
])("%s", (_, value, expected) => {
  const { rules } = read({
    Resources: {
      T: { Type: "AWS::DynamoDB::GlobalTable" },
      M: {
        Type: "AWS::StepFunctions::StateMachine",
        Properties: { StateMachineName: "given", DefinitionString: "{}", RoleArn: "r" },
      },
      B: { Type: "AWS::S3::Bucket" },
      R: queue({ value }),
    },
  });
  expect(rules[0]?.pattern).toEqual({ v: [{ value: expected }] });
});

test.each<[string, unknown, RegExp]>([
  ["a resource with a condition", { ...queue("x"), Condition: "There" }, /Condition/],
  ["a rule that is disabled", { ...queue("x"), Properties: { State: "DISABLED" } }, /State/],
  ["a nested stack", { Type: "AWS::CloudFormation::Stack" }, /AWS::CloudFormation::Stack/],
  [
    "a rule whose target gets a part of its event",
    { Type: "AWS::Events::Rule", Properties: { Targets: [{ Id: "a", Arn: "arn:aws:lambda:x", InputPath: "$.detail" }] } },
    /InputPath/,
  ],
])("%s is an error and is not ignored", (_, resource, message) => {
  expect(() => read({ Resources: { R: resource } })).toThrow(message);
});

const integration = {
  type: "aws_proxy",
  httpMethod: "POST",
  uri: "arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/f/invocations",
  credentials: "r",
};
const operation = { responses: { 200: { description: "OK" } }, "x-amazon-apigateway-integration": integration };

/** A template with an API of one method and these other resources. */
const withApi = (paths: unknown, otherResources = {}) => ({
  Resources: {
    A: {
      Type: "AWS::ApiGateway::RestApi",
      Properties: {
        Body: {
          openapi: "3.0.1",
          info: {},
          paths,
          components: { securitySchemes: {} },
          "x-amazon-apigateway-gateway-responses": {},
        },
      },
    },
    S: { Type: "AWS::ApiGateway::Stage", Properties: { RestApiId: { Ref: "A" }, StageName: "prod" } },
    ...otherResources,
  },
});

test("an API is read from its body", () => {
  const [api] = read(withApi({ "/a/{id}": { post: operation, "x-amazon-apigateway-any-method": operation } })).apis;
  expect(api).toMatchObject({ stage: "prod", minimumCompressionSize: undefined, authorizers: [], gatewayResponses: [] });
  expect(api?.resources).toEqual([
    {
      path: "/a/{id}",
      methods: ["POST", "ANY"].map((httpMethod) => ({
        httpMethod,
        authorizer: undefined,
        functionArn: "f",
        timeoutMilliseconds: 29_000,
        role: "r",
      })),
    },
  ]);
});

test.each<[string, unknown, object, RegExp]>([
  ["an authorizer that the body lacks", { ...operation, security: [{ nobody: [] }] }, {}, /no security scheme nobody/],
  ["a validator of requests", { ...operation, "x-amazon-apigateway-request-validator": "all" }, {}, /request-validator/],
  [
    "a cache of responses",
    { ...operation, "x-amazon-apigateway-integration": { ...integration, cacheKeyParameters: ["x"] } },
    {},
    /cacheKeyParameters/,
  ],
  [
    "a method beside the body",
    operation,
    { M: { Type: "AWS::ApiGateway::Method", Properties: { RestApiId: { Ref: "A" } } } },
    /M is a AWS::ApiGateway::Method/,
  ],
])("an API with %s is an error and is not ignored", (_, get, otherResources, message) => {
  expect(() => read(withApi({ "/a": { get } }, otherResources))).toThrow(message);
});

test("a missing reference and an unknown function in a template are errors that name them", () => {
  expect(() => read({ Resources: { R: queue({ Ref: "Nobody" }) } })).toThrow(/Nobody/);
  expect(() => read({ Resources: { R: queue({ "Fn::ImportValue": "x" }) } })).toThrow(/Fn::ImportValue/);
  expect(() => readTemplate("/nowhere", "S")).toThrow("/nowhere/S.template.json is missing: synthesize the app first");
});
