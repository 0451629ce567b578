// The API page: complete, usable with the keyboard and without colors, and without any requests.
import { expect, test } from "vitest";
import { DOCS_CONTENT_SECURITY_POLICY, docsPage } from "../../infra/local/pages/docs-page.ts";
import { routes } from "../../shared/api/index.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";

const page = docsPage(openapiDocument("test"), "http://127.0.0.1:4000");
const all = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, found]) => found ?? "");

test("the API page has every endpoint, with a command to paste", () => {
  const articles = page.split("<article ").slice(1);
  expect(articles).toHaveLength(routes.length);
  for (const article of articles) expect(article).toContain("<code>curl ");
  expect(page).toContain("export API=http://127.0.0.1:4000/api/v1");
});

test("the API page needs no script and loads nothing", () => {
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son[a-z]+=|\sstyle=/);
  expect(DOCS_CONTENT_SECURITY_POLICY).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='/);
});

test("every link inside the API page has a target, and every anchor is unique", () => {
  const ids = all(/\sid="([^"]+)"/g);
  expect(new Set(ids).size).toBe(ids.length);
  for (const link of all(/href="#([^"]+)"/g)) expect(ids).toContain(link);
});

test("the API page shows the document as text, never as markup", () => {
  const document = openapiDocument("test");
  document.info.title = '<b onload="x">&';
  expect(docsPage(document)).toContain("<title>&lt;b onload=&quot;x&quot;&gt;&amp; API</title>");
});

/** Relative luminance (WCAG 2.2). */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (one: string, other: string): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
};

test.each([0, 1])("text of theme %i on the API page has a contrast of at least 4.5 to 1", (theme) => {
  const [, rule = ""] = [...page.matchAll(/:root \{([^}]+)\}/g)][theme] ?? [];
  const colors = new Map([...rule.matchAll(/--(\w+): (#[0-9a-f]{6})/g)].map(([, name = "", hex = ""]) => [name, hex]));
  const color = (name: string) => colors.get(name) ?? "#000000";
  for (const paper of ["paper", "quiet"])
    for (const ink of ["ink", "soft", "link", "name", "text", "value"])
      expect(contrast(color(ink), color(paper)), `${ink} on ${paper}`).toBeGreaterThanOrEqual(4.5);
  for (const badge of ["get", "post", "put", "delete"])
    expect(contrast(color("on"), color(badge)), `on ${badge}`).toBeGreaterThanOrEqual(4.5);
});
