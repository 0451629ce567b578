// The dashboard of the current sources in front of a test's cloud, built when a browser first requests it.
import { buildDashboard } from "../../infra/dashboard-build.ts";
import { docsPage } from "../../infra/local/pages/docs-page.ts";
import type { Fallback } from "../../infra/local/gateway/gateway.ts";
import { serve } from "../../infra/local/pages/pages.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";

export function dashboard(storeUrl: () => string = () => ""): Fallback {
  let serving: Promise<Fallback> | undefined;
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    serving ??= buildDashboard().then((folder) =>
      serve({ dashboard: folder, docs: docsPage(openapiDocument("test")), environment: "test", storeUrl }),
    );
    serving.then(
      (respond) => respond(request, response),
      (error: unknown) => response.writeHead(500, { "content-type": "text/plain" }).end(String(error)),
    );
    return true;
  };
}
