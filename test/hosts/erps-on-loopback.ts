// A process of its own: ERPs behind a machine's proxy, as far as the machine's timer sees them. What one does says the first part
// of its domain.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const LINKS = `<link rel="stylesheet" href="https://cdn.example.com/a.css"/> <link rel="stylesheet" href="/theme.css"/>
  <link rel="stylesheet" href="/web/assets/1/abc/web.assets_frontend.min.css?a=1&amp;b=2"/> <script src="/web/assets/1/def/web.min.js"></script>`;
/** What exists if a link was obeyed. */
const [, , RAN = ""] = process.argv;
/** Links that must get into no request: `"` is in none, so no option of curl's can follow. */
const INJECTED = String.raw`<link href="/x.css?\" --output ${RAN}"/> <link href="/$(touch ${RAN}).css"/> <script src="/x y.js"></script>
  <link href="//169.254.169.254/x.css"/><script src="http://169.254.169.254/x.js"></script>`;

function endless(response: ServerResponse): void {
  response.on("error", () => undefined);
  const more = (): void => {
    while (!response.destroyed && response.write(`${LINKS}\n`.repeat(1000)));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

function page(kind: string, response: ServerResponse): unknown {
  switch (kind) {
    case "silent":
      return undefined;
    case "slow":
      return response.write("<html>") && undefined;
    case "dead":
      return response.destroy();
    case "broken":
      return response.writeHead(500).end("Internal Server Error");
    case "unserved":
      return response.end();
    case "redirecting":
      return response.writeHead(303, { location: "http://169.254.169.254/latest" }).end();
    case "endless":
      return endless(response);
    case "injecting":
      return response.end(INJECTED);
    case "huge":
      return response.end(LINKS + " ".repeat(5_000_000));
    default:
      return response.end(LINKS);
  }
}

function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): unknown {
  const [kind = ""] = (headers.host ?? "").split(".");
  if (url === "/web/login") return page(kind, response);
  if (url !== "/web/assets/1/abc/web.assets_frontend.min.css?a=1&b=2" && url !== "/web/assets/1/def/web.min.js")
    return response.writeHead(404).end();
  if (kind === "unstyled" && url.includes(".css")) return response.writeHead(500).end();
  if (kind === "unscripted" && url.includes(".js")) return response.writeHead(404).end();
  if (kind === "endlessfile" && url.includes(".js")) return endless(response);
  return response.writeHead(headers.range === undefined ? 200 : 206).end("ok");
}

createServer(answer).listen(8079, "127.0.0.1", 511, () => console.log("listening"));
