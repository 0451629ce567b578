// The template as the local runner reads it: every reference resolved, to the same values at every start.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTemplate } from "../../infra/local/template/template.ts";

const queue = (policy: unknown) => ({ Type: "AWS::Events::Rule", Properties: { EventPattern: { v: [policy] }, Targets: [] } });

function read(template: unknown, nested: Record<string, unknown> = {}) {
  const outDir = mkdtempSync(join(tmpdir(), "template-"));
  writeFileSync(join(outDir, "S.template.json"), JSON.stringify(template));
  for (const [name, each] of Object.entries(nested)) writeFileSync(join(outDir, name), JSON.stringify(each));
  return readTemplate(outDir, "S");
}

test.each<[string, unknown, unknown]>([
  ["Ref of a table is its name", { Ref: "T" }, "S-T"],
  ["GetAtt Arn of a table", { "Fn::GetAtt": ["T", "Arn"] }, "arn:aws:dynamodb:us-east-1:000000000000:table/S-T"],
  ["Ref of a machine is its ARN", { Ref: "M" }, "arn:aws:states:us-east-1:000000000000:stateMachine:given"],
  ["GetAtt Name of a machine", { "Fn::GetAtt": "M.Name" }, "given"],
  ["a bucket's name is lower case", { Ref: "B" }, "s-b"],
  ["Join", { "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] }, "a-us-east-1"],
  [
    "Sub",
    { "Fn::Sub": "${AWS::AccountId}/${T}/${T.Arn}/${!kept}" },
    "000000000000/S-T/arn:aws:dynamodb:us-east-1:000000000000:table/S-T/${kept}",
  ],
  ["Sub with values of its own", { "Fn::Sub": ["${x}", { x: { Ref: "P" } }] }, "default"],
  ["Select of Split", { "Fn::Select": [1, { "Fn::Split": [":", "a:b:c"] }] }, "b"],
  ["FindInMap", { "Fn::FindInMap": ["Map", "us-east-1", "k"] }, "v"],
  ["If", { "Fn::If": ["Here", "yes", "no"] }, "yes"],
  ["NoValue leaves the key out", { "Fn::If": ["There", "x", { Ref: "AWS::NoValue" }] }, undefined],
  ["an output of a nested stack that got a parameter", { "Fn::GetAtt": ["N", "Outputs.Name"] }, "S-N-Inner/S-T"],
])("%s", (_, value, expected) => {
  const { rules } = read(
    {
      Parameters: { P: { Type: "String", Default: "default" } },
      Mappings: { Map: { "us-east-1": { k: "v" } } },
      Conditions: {
        Here: { "Fn::Equals": [{ Ref: "AWS::Region" }, "us-east-1"] },
        There: { "Fn::Not": [{ Condition: "Here" }] },
      },
      Resources: {
        T: { Type: "AWS::DynamoDB::Table" },
        M: {
          Type: "AWS::StepFunctions::StateMachine",
          Properties: { StateMachineName: "given", DefinitionString: "{}", RoleArn: "r" },
        },
        B: { Type: "AWS::S3::Bucket" },
        Gone: { ...queue("x"), Condition: "There" },
        R: queue({ value }),
        N: {
          Type: "AWS::CloudFormation::Stack",
          Properties: { Parameters: { Table: { Ref: "T" } } },
          Metadata: { "aws:asset:path": "N.json" },
        },
      },
    },
    {
      "N.json": {
        Parameters: { Table: { Type: "String" } },
        Resources: { Inner: { Type: "AWS::DynamoDB::Table" } },
        Outputs: { Name: { Value: { "Fn::Sub": "${Inner}/${Table}" } } },
      },
    },
  );
  expect(rules.map(({ logicalId }) => logicalId)).toEqual(["R"]);
  expect(rules[0]?.pattern).toEqual({ v: [expected === undefined ? {} : { value: expected }] });
});

test("a reference that the template does not have, and a function that is not known, are said by name", () => {
  expect(() => read({ Resources: { R: queue({ Ref: "Nobody" }) } })).toThrow(/Nobody/);
  expect(() => read({ Resources: { R: queue({ "Fn::ImportValue": "x" }) } })).toThrow(/Fn::ImportValue/);
  expect(() => readTemplate("/nowhere", "S")).toThrow("/nowhere/S.template.json is missing: synthesize the app first");
});
