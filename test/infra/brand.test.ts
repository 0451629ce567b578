// The operator's brand file: what it may hold, and what is wrong with one that cannot be used.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readBrand } from "../../infra/brand.ts";

const folder = mkdtempSync(join(tmpdir(), "brand-"));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const brandOf = (content: unknown) => readBrand(write("brand.json", JSON.stringify(content)));

test("a brand has a name and, if the file says so, a logo beside the file, a color and a support link", () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  write("logo.svg", svg);
  expect(brandOf({ name: " Acme " })).toEqual({ name: "Acme", logo: null, color: null, support_url: null });
  expect(brandOf({ name: "Acme", logo: "logo.svg", color: "#0B5cad", support_url: "mailto:help@example.com" })).toEqual({
    name: "Acme",
    logo: `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`,
    color: "#0B5cad",
    support_url: "mailto:help@example.com",
  });
});

test("a brand that cannot be used is rejected with the file and the reason", () => {
  write("page.svg", "<html><script>alert(1)</script></html>");
  write("photo.png", "<svg/>");
  write("large.png", Buffer.concat([Buffer.from("\x89PNG\r\n\x1A\n", "latin1"), Buffer.alloc(40_000)]));
  for (const [content, reason] of [
    [{}, /brand\.json: name/],
    [{ name: "Acme", theme: "dark" }, /theme/],
    [{ name: "x".repeat(41) }, /name/],
    [{ name: "Acme", color: "red; background: url(https://example.com)" }, /color must be a color/],
    [{ name: "Acme", support_url: "javascript:alert(1)" }, /support_url must be/],
    [{ name: "Acme", logo: "gone.svg" }, /gone\.svg cannot be read/],
    [{ name: "Acme", logo: "page.svg" }, /neither a PNG nor an SVG/],
    [{ name: "Acme", logo: "photo.png" }, /neither a PNG nor an SVG/],
    [{ name: "Acme", logo: "large.png" }, /larger than 32 KB/],
  ] as const)
    expect(() => brandOf(content)).toThrow(reason);
  expect(() => readBrand(write("broken.json", "{"))).toThrow(/broken\.json cannot be read as JSON/);
});
