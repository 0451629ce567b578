// Mails as mail programs show them: readable in light and dark, on a phone, and accessible.
import { afterAll, describe, expect, inject, test } from "vitest";
import { type Browser, chromium } from "playwright-core";
import { LANGUAGES } from "../../shared/domain/languages.ts";
import { Message } from "../../shared/mail/messages.ts";
import { renderMail } from "../../shared/mail/render.ts";
import { MESSAGES } from "../mail/samples.ts";
import { expectAccessible } from "./axe.ts";

const LOOK = { dashboardUrl: "https://erp.example.com", isTest: false };

let browser: Browser | undefined;
const open = async (): Promise<Browser> => (browser ??= await chromium.connect(await (await fetch(inject("chromium"))).text()));
afterAll(() => browser?.close());

describe.each(["light", "dark"] as const)("in %s", (colorScheme) => {
  test.each(LANGUAGES)("every mail in %s fits a phone and is accessible", async (language) => {
    const page = await (await open()).newPage({ colorScheme, viewport: { width: 320, height: 640 } });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    for (const [index, sample] of MESSAGES.entries()) {
      const brand = { name: "Acme Cloud with a long name", color: index % 2 === 0 ? "#ffd400" : null };
      const { html } = renderMail(Message.parse(sample), { ...LOOK, language, brand });
      await page.setContent(html);
      await expectAccessible(page);
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect(width, sample.type).toBeLessThanOrEqual(320);
    }
    const colors = await page.evaluate<string>("getComputedStyle(document.querySelector('.card')).backgroundColor");
    expect(colors).toBe(colorScheme === "dark" ? "rgb(34, 38, 43)" : "rgb(255, 255, 255)");
    expect(await page.locator("a").count()).toBe(1);
    expect(requests).toEqual([]);
    await page.close();
  });
});
