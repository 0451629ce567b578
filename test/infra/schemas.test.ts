// What finds mistakes in a template before AWS does: properties that a resource lacks or does not have, and circular references.
import { describe, expect, it } from "vitest";
import { cycleIn, problemsOf, Resources } from "./schemas.ts";

describe("the checks of a template", () => {
  const role = { Type: "AWS::IAM::Role", Properties: { AssumeRolePolicyDocument: {} } };
  it.each([
    [{ Type: "AWS::IAM::Roll" }, "AWS has no AWS::IAM::Roll"],
    [{ Type: "AWS::IAM::Role" }, "lacks AssumeRolePolicyDocument"],
    [{ ...role, Properties: { ...role.Properties, Polices: [] } }, "has no property Polices"],
    [{ ...role, Properties: { ...role.Properties, MaxSessionDuration: "long" } }, 'MaxSessionDuration is no integer: "long"'],
    [{ ...role, Properties: { ...role.Properties, Policies: [{ PolicyName: "p" }] } }, "Policies[0] lacks PolicyDocument"],
    [
      { Type: "AWS::Lambda::Alias", Properties: { Name: "a", FunctionName: 7, FunctionVersion: "1" } },
      "FunctionName is no string",
    ],
  ])("the template checks report what is wrong with %j", (resource, problem) => {
    expect(problemsOf(Resources.parse({ mine: resource }))).toEqual([expect.stringContaining(problem)]);
    expect(problemsOf(Resources.parse({ mine: role }))).toEqual([]);
  });

  it("the template checks find circular references of any kind", () => {
    const circle = (reference: object) =>
      cycleIn(
        Resources.parse({ a: { ...role, DependsOn: "b" }, b: { ...role, DependsOn: ["c"] }, c: { ...role, ...reference } }),
      );
    const by = (Description: unknown) => circle({ Properties: { Description } });
    for (const cycle of [
      circle({ DependsOn: "a" }),
      by({ Ref: "a" }),
      by({ "Fn::GetAtt": ["a", "Arn"] }),
      by({ "Fn::GetAtt": "a.Arn" }),
      by({ "Fn::Join": ["", ["x", { "Fn::Sub": "${AWS::Region} ${a.Arn}" }]] }),
      by({ "Fn::Sub": ["${own}", { own: { Ref: "a" } }] }),
    ])
      expect(cycle).toEqual(["a", "b", "c", "a"]);
    expect(by({ "Fn::Sub": "${AWS::Region}" })).toBeUndefined();
  });
});
