// The pages that the local server shows beside the API.
import { DOCS_CONTENT_SECURITY_POLICY } from "./docs-page.ts";
import type { Fallback } from "./gateway.ts";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": DOCS_CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Answers GET and HEAD of the given pages; the address without a path leads to the first of them. */
export function serve(pages: Record<string, string>): Fallback {
  const [first = "/"] = Object.keys(pages);
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    if (path === "/") {
      response.writeHead(302, { location: first }).end();
      return true;
    }
    const page = pages[path.replace(/\/$/, "")];
    if (page === undefined) return false;
    response.writeHead(200, HEADERS).end(request.method === "HEAD" ? undefined : page);
    return true;
  };
}
