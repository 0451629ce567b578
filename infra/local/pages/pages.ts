// What the local server serves besides the API: the dashboard, like CloudFront and its bucket on AWS, and the API page.
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { CACHE_FOR_EVER, CACHE_NOT, type DashboardConfig, securityHeaders } from "../../dashboard-headers.ts";
import { DOCS_CONTENT_SECURITY_POLICY } from "./docs-page.ts";
import { MAIL_CONTENT_SECURITY_POLICY, mailPage } from "./mail-page.ts";
import type { Fallback } from "../gateway/gateway.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
/** Already compressed. */
const COMPRESSED = [".png", ".woff2"];

interface File {
  headers: Readonly<Record<string, string>>;
  plain: Buffer;
  zipped: Buffer | undefined;
}

const DOCS = "/docs";
const MAIL = "/mail";

interface Pages {
  /** Folder of the built dashboard. */
  dashboard: string;
  docs: string;
  environment: DashboardConfig["environment"];
  otherDashboard?: DashboardConfig["other_dashboard"];
  brand?: DashboardConfig["brand"];
  /** The folder of mails that are shown at `/mail`, if there is such a page. */
  mails?: string | undefined;
  /** What the URLs of archives begin with; known once the storage listens. */
  storeUrl: () => string;
}

/** Serves GET and HEAD of every requested path; the API rejects other methods. */
export function serve({ dashboard, docs, environment, otherDashboard = null, brand = null, mails, storeUrl }: Pages): Fallback {
  const config: DashboardConfig = { environment, other_dashboard: otherDashboard, api_page: DOCS, brand };
  const files = new Map([
    ...filesIn(dashboard),
    ["/config.json", buildFile("config.json", Buffer.from(JSON.stringify(config)))],
    [DOCS, buildFile("docs.html", Buffer.from(docs), { "content-security-policy": DOCS_CONTENT_SECURITY_POLICY })],
  ]);
  return ({ method, url = "/", headers }, response) => {
    if (method !== "GET" && method !== "HEAD") return false;
    // Looked up exactly as sent: a path that is not in the list reaches nothing, whatever it contains.
    const [path = "/"] = url.split("?", 1);
    const listedFile = files.get(path.replace(/(?<=.)\/$/, "")) ?? (isFileName(path) ? undefined : files.get("/index.html"));
    const file = mails !== undefined && path === MAIL ? buildMailPage(mails) : listedFile;
    send(response, file, securityHeaders(storeUrl()), {
      zip: /\bgzip\b/.test(String(headers["accept-encoding"])),
      body: method === "GET",
    });
    return true;
  };
}

/** Builds the page as it is now; no cache stores it. */
const buildMailPage = (folder: string): File =>
  buildFile("mail.html", Buffer.from(mailPage(folder)), {
    "content-security-policy": MAIL_CONTENT_SECURITY_POLICY,
    "cache-control": "no-store",
  });

/** Every path that names no file returns the dashboard, which knows its own pages. */
const isFileName = (path: string): boolean => path.slice(path.lastIndexOf("/")).includes(".");

function filesIn(folder: string): [string, File][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = `/${relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/")}`;
      return [path, buildFile(path, readFileSync(join(folder, path)))];
    });
}

function buildFile(path: string, plain: Buffer, headers: Readonly<Record<string, string>> = {}): File {
  const kind = extname(path);
  return {
    plain,
    zipped: COMPRESSED.includes(kind) ? undefined : gzipSync(plain),
    headers: {
      "content-type": TYPES[kind] ?? "application/octet-stream",
      "cache-control": path.startsWith("/assets/") ? CACHE_FOR_EVER : CACHE_NOT,
      vary: "accept-encoding",
      ...headers,
    },
  };
}

function send(
  response: ServerResponse,
  file: File | undefined,
  security: Readonly<Record<string, string>>,
  { zip, body }: { zip: boolean; body: boolean },
): void {
  if (file === undefined) {
    response.writeHead(404, { ...security, "content-type": "text/plain", "cache-control": CACHE_NOT });
    response.end(body ? "There is no such file\n" : undefined);
    return;
  }
  const { headers, plain, zipped } = file;
  const content = zip && zipped !== undefined ? zipped : plain;
  const encoding = content === plain ? {} : { "content-encoding": "gzip" };
  response.writeHead(200, { ...security, ...headers, ...encoding, "content-length": content.length });
  response.end(body ? content : undefined);
}
