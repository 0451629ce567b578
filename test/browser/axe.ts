// Whether a page is accessible to everyone, as far as a program can tell.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";

const Results = z.object({
  violations: z.array(
    z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })) }),
  ),
});

export async function expectAccessible(page: Page): Promise<void> {
  // It is half a megabyte, and stays until the next load of the dashboard.
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  const { violations } = Results.parse(await page.evaluate("axe.run({ resultTypes: ['violations'] })"));
  const report = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html.slice(0, 300)}\n  ${failureSummary.replaceAll("\n", " ")}`),
  );
  expect(report, `what keeps people from using ${page.url()}`).toEqual([]);
}
