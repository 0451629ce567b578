// The alarms of a deployment: what each watches, and that its reader learns what to do.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import * as z from "zod";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { readTemplates, resources } from "./templates.ts";

beforeAll(() => readTemplates(inject("outDir")));

describe.each(ENVIRONMENTS)("the stack of %s", (environment) => {
  it("every alarm's description has its impact and a link to the remedy", () => {
    for (const { Properties } of resources(environment, "AWS::CloudWatch::Alarm")) {
      expect(Properties["AlarmDescription"]).toMatch(/^[A-Z].{20,}\. What to do: docs\/operations\.md#[a-z-]+$/);
      expect(Properties["AlarmActions"]).toHaveLength(1);
    }
  });

  it("every alarm has an entry in docs/operations.md", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
    const anchors = [...guide.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    for (const { Properties } of resources(environment, "AWS::CloudWatch::Alarm")) {
      expect(anchors).toContain(z.string().parse(Properties["AlarmDescription"]).split("#")[1]);
    }
  });

  it("the share of requests with 401 counts lines of the access log, and only if there are many", () => {
    const alarm = resources(environment, "AWS::CloudWatch::Alarm").find(({ Properties }) =>
      z.string().parse(Properties["AlarmName"]).endsWith("requests rejected"),
    );
    expect(alarm?.Properties["Metrics"]).toContainEqual(
      expect.objectContaining({ Expression: "IF(FILL(requests, 0) >= 200, 100 * FILL(rejected, 0) / FILL(requests, 1), 0)" }),
    );
    const [access] = resources(environment, "AWS::ApiGateway::Stage").map(({ Properties }) =>
      JSON.stringify(Properties["AccessLogSetting"]),
    );
    const filters = resources(environment, "AWS::Logs::MetricFilter").filter(({ Properties }) =>
      access?.includes(JSON.stringify(z.object({ Ref: z.string() }).parse(Properties["LogGroupName"]).Ref)),
    );
    expect(filters).toMatchObject([{ Properties: { FilterPattern: '{ $.status = "401" }' } }]);
    expect(access).toContain(String.raw`\"status\":\"$context.status\"`);
  });

  it("a schedule that does not run at all is a zero, not a missing value, for which CloudWatch would wait several periods more", () => {
    const silent = resources(environment, "AWS::CloudWatch::Alarm").filter(({ Properties }) =>
      z.string().parse(Properties["AlarmName"]).endsWith(" silent"),
    );
    expect(silent).toHaveLength(environment === "live" ? 7 : 6);
    for (const { Properties } of silent)
      expect(Properties["Metrics"]).toContainEqual(expect.objectContaining({ Expression: "FILL(runs, 0) - FILL(errors, 0)" }));
  });

  it("no alarm counts the errors of a workflow's tasks, because a poll retries by throwing one", () => {
    const watched = resources(environment, "AWS::CloudWatch::Alarm").filter(({ Properties }) =>
      /"FunctionName","Value":\{"Ref":"[^"]*tasks/.test(JSON.stringify(Properties)),
    );
    expect(watched).toEqual([]);
  });
});
