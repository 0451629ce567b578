// The sentences that have a code: the same codes and parameters in every language, and none is ever taken away.
import { expect, test } from "vitest";
import { sentences } from "../dashboard/src/messages/de/sentences.ts";
import { steps } from "../dashboard/src/messages/en/steps.ts";
import { workflows } from "../functions/workflows/index.ts";
import { english, SENTENCES } from "../shared/domain/sentences.ts";

const parametersIn = (template: string): string[] => [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).toSorted();

test("each language has each code, with the same parameters", () => {
  const of = (templates: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(templates).map(([code, template]) => [code, parametersIn(template)]));
  expect(of(sentences)).toEqual(of(SENTENCES));
  for (const [code, template] of Object.entries(sentences))
    expect(template, code).not.toBe(Object.entries(SENTENCES).find(([each]) => each === code)?.[1]);
});

test("an English sentence shows bytes as gigabytes", () => {
  const parameters = { server_name: "erp-1", free_bytes: 1_500_000_000, reported_at: "2026-11-20T12:00:00.000Z" };
  expect(english({ code: "disk_low", parameters })).toMatch(/^Low disk space: server erp-1 reported 1\.5 GB free at 2026/);
});

test("the dashboard has words for each step of each workflow, in English the same", () => {
  const labels = Object.values(workflows).flatMap(({ steps: all }) => all.map(({ name, label }) => [name, label] as const));
  expect(steps).toEqual({ ...Object.fromEntries(labels), undo: "Undoing the changes" });
});
