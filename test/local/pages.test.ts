// What the local server serves besides the API: the dashboard for every path that names no file, and nothing outside its folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { securityHeaders } from "../../infra/dashboard-headers.ts";
import { serve } from "../../infra/local/pages/pages.ts";

const PAGE = `<!doctype html><title>Dashboard</title>${" ".repeat(2000)}`;
const SCRIPT = "console.log(1);".repeat(200);
const OTHER = { environment: "live", url: "https://live.example.com" } as const;

const home = mkdtempSync(join(tmpdir(), "pages-"));
const server = createServer((request, response) => {
  if (!serveDashboard(request, response)) response.writeHead(405).end();
});
const STORE = "http://127.0.0.1:1/archives/";
let serveDashboard: ReturnType<typeof serve>;
let port: number;

beforeAll(async () => {
  const folder = join(home, "dashboard");
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "assets", "index-1.js"), SCRIPT);
  writeFileSync(join(folder, "assets", "font-1.woff2"), "w".repeat(2000));
  writeFileSync(join(home, "secret.txt"), "secret");
  serveDashboard = serve({
    dashboard: folder,
    docs: "<title>API</title>",
    environment: "test",
    otherDashboard: OTHER,
    storeUrl: () => STORE,
    mails: join(home, "mails"),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = z.object({ port: z.number() }).parse(server.address()));
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true });
});

const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);

/** Byte for byte; `fetch` would normalize the request. */
async function sendRaw(target: string, more = ""): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`);
  return text(socket);
}

test("/mail shows what would have been sent, the newest first, as text and without anything that runs", async () => {
  const empty = await ask("/mail");
  expect(empty.headers.get("cache-control")).toBe("no-store");
  expect(await empty.text()).toContain("There are none yet");
  mkdirSync(join(home, "mails"));
  const mail = { to: "a@example.com", html: '<a href="https://x">&</a>', created_at: "2026-11-26T10:00:00.000Z" };
  const text = 'Hi <script>alert(1)</script>\n\nhttps://erp.example.com/reset-password#token=a"b\n';
  for (const [id, subject] of [
    ["mail_1", "Older"],
    ["mail_2", "<b>Newer</b>"],
  ] as const)
    writeFileSync(join(home, "mails", `${id}.json`), JSON.stringify({ ...mail, id, subject, text }));
  writeFileSync(join(home, "mails", "mail_2.eml"), "raw");
  const response = await ask("/mail");
  const page = await response.text();
  expect(page.indexOf("Newer")).toBeLessThan(page.indexOf("Older"));
  expect(page.match(/<h2>/g)).toHaveLength(2);
  expect(page).not.toMatch(/<script|<b>/);
  expect(page).toContain('<a href="https://erp.example.com/reset-password#token=a&#34;b">');
  expect(page).toContain('sandbox srcdoc="&#60;a href=&#34;https://x&#34;&#62;&#38;&#60;/a&#62;"');
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'unsafe-inline'/);
});

test("without a folder of mails, as in live, /mail is a path of the dashboard", async () => {
  const live = serve({ dashboard: join(home, "dashboard"), docs: "", environment: "live", storeUrl: () => STORE });
  const other = createServer((request, response) => void live(request, response)).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port: livePort } = z.object({ port: z.number() }).parse(other.address());
  expect(await (await fetch(`http://127.0.0.1:${livePort}/mail`)).text()).toBe(PAGE);
  other.close();
});

test.each(["/", "/servers", "/servers/srv_1/", "/settings/api-keys?page=2", "/docsy", "/apis"])(
  "%s returns the dashboard, revalidated each time",
  async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(PAGE);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    for (const [name, value] of Object.entries(securityHeaders(STORE))) expect(response.headers.get(name)).toBe(value);
  },
);

test("a file with a hash in its name is cached for ever", async () => {
  const response = await ask("/assets/index-1.js");
  expect(await response.text()).toBe(SCRIPT);
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
});

test("large files are compressed for clients that accept it, and sent unchanged to others", async () => {
  const [zipped, plain, font] = await Promise.all([
    ask("/assets/index-1.js", { headers: { "accept-encoding": "br, gzip" } }),
    ask("/assets/index-1.js", { headers: { "accept-encoding": "identity" } }),
    ask("/assets/font-1.woff2", { headers: { "accept-encoding": "gzip" } }),
  ]);
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(Number(zipped.headers.get("content-length"))).toBeLessThan(SCRIPT.length / 10);
  expect(zipped.headers.get("vary")).toBe("accept-encoding");
  expect([plain.headers.get("content-encoding"), plain.headers.get("content-length")]).toEqual([null, String(SCRIPT.length)]);
  expect(font.headers.get("content-encoding")).toBeNull();
  const raw = await fetch(`http://127.0.0.1:${port}/`, { headers: { "accept-encoding": "identity" } });
  expect(await raw.text()).toBe(gunzipSync(Buffer.from(await zippedPage())).toString());
});

/** `fetch` decompresses automatically; this does not. */
async function zippedPage(): Promise<Uint8Array> {
  const socket = connect(port, "127.0.0.1");
  socket.end("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n");
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(z.instanceof(Buffer).parse(chunk));
  const all = Buffer.concat(chunks);
  return all.subarray(all.indexOf("\r\n\r\n") + 4);
}

test("HEAD returns what GET returns, without the content", async () => {
  const response = await ask("/assets/index-1.js", { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
  expect(response.headers.get("cache-control")).toContain("immutable");
  expect((await ask("/assets/gone.js", { method: "HEAD" })).status).toBe(404);
});

test("a missing file returns 404, not the dashboard", async () => {
  const response = await ask("/assets/gone.js");
  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain("Dashboard");
  expect(response.headers.get("cache-control")).toBe("no-cache");
});

test.each([
  "/../secret.txt",
  "/assets/../../secret.txt",
  "/%2e%2e/secret.txt",
  "/..%2fsecret.txt",
  "/assets/..\\..\\secret.txt",
  "//secret.txt",
])("%s reaches nothing outside the dashboard's folder", async (path) => {
  const response = await sendRaw(path);
  expect(response).toMatch(/^HTTP\/1\.1 404/);
  expect(response).not.toMatch(/\r\n\r\nsecret/);
});

test("the API page is served with its own content security policy", async () => {
  for (const path of ["/docs", "/docs/"]) {
    const response = await ask(path);
    expect(await response.text()).toBe("<title>API</title>");
    expect(response.headers.get("content-security-policy")).toMatch(/style-src 'sha256-/);
  }
});

test("the dashboard gets its environment, the other dashboard's URL and the API page's URL from its configuration", async () => {
  expect(await (await ask("/config.json")).json()).toEqual({
    environment: "test",
    other_dashboard: OTHER,
    api_page: "/docs",
    brand: null,
  });
});

test("other methods go to the API", async () => {
  expect((await ask("/", { method: "POST" })).status).toBe(405);
});
