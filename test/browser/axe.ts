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

/**
 * The one thing that the components do not allow: the menu of a row, and the note that something was copied, open at the end of
 * the page, so that the table does not cut them off, and that is outside all landmarks. `aria-owns` puts a menu beside its button
 * for screen readers, which axe does not consider (docs/decisions).
 */
const opensAtTheEnd = (rule: string, html: string): boolean =>
  rule === "region" && /^<div (?:id="[^"]*" data-awsui-referrer-id=|class="awsui_container-body_)/.test(html);

/** Without `colors`, the contrast is left out. */
export async function expectAccessible(page: Page, { colors = true }: { colors?: boolean } = {}): Promise<void> {
  // It is half a megabyte, and stays until the next load of the dashboard.
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  const options = { resultTypes: ["violations"], ...(!colors && { rules: { "color-contrast": { enabled: false } } }) };
  await expectNoViolations(page, JSON.stringify(options));
}

/** A finger hits everything in a part of the page: 24 pixels, or as much room around it. axe looks at this only when asked. */
export async function expectTargets(page: Page, selector: string): Promise<void> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  const options = { runOnly: { type: "rule", values: ["target-size"] }, resultTypes: ["violations"] };
  await expectNoViolations(page, `${JSON.stringify(selector)}, ${JSON.stringify(options)}`);
}

async function expectNoViolations(page: Page, parameters: string): Promise<void> {
  const { violations } = Results.parse(await page.evaluate(`axe.run(${parameters})`));
  const report = violations.flatMap(({ id, help, nodes }) =>
    nodes
      .filter(({ html }) => !opensAtTheEnd(id, html))
      .map(({ html, failureSummary }) => `${id}: ${help}\n  ${html.slice(0, 300)}\n  ${failureSummary.replaceAll("\n", " ")}`),
  );
  expect(report, `what keeps people from using ${page.url()}`).toEqual([]);
}

/** Checks the page for people who have chosen all colors themselves: axe reads the page's colors, which they do not see. */
export async function expectAccessibleInForcedColors(page: Page): Promise<void> {
  await page.emulateMedia({ forcedColors: "active" });
  await expectAccessible(page, { colors: false });
  await page.emulateMedia({ forcedColors: null });
}

/** Checks the page at its own width, and at a narrower or a wider one; a narrower one is checked in forced colors. */
export async function expectFits(page: Page, otherWidth: number): Promise<void> {
  await expectAccessible(page);
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  for (const wide of [otherWidth, width]) {
    await page.setViewportSize({ width: wide, height });
    const beyond = () => page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    await expect.poll(beyond, { message: `pixels beyond ${wide} on ${page.url()}` }).toBe(0);
    // What is narrower has another layout, and colors that the user forces change none: one look is enough for both.
    if (wide < width) await expectAccessibleInForcedColors(page);
  }
}
