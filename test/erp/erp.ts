// The ERP as a user sees it: over HTTPS by its domain, signed in, reading and writing records and files.
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import * as z from "zod";

interface Reply {
  status: number;
  cookies: readonly string[];
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Site {
  domain: string;
  /** The machine's own certificate authority. */
  authority: string;
}

/** Whatever the domain's DNS says, connects to this machine. */
const HERE = "127.0.0.1";
const REQUEST_SECONDS = 60;

export function fetchPage(
  { domain, authority }: Site,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request({
      agent: new Agent({ keepAlive: false }),
      host: HERE,
      servername: domain,
      ca: authority,
      path,
      method: text === undefined ? "GET" : "POST",
      headers: { host: domain, ...headers, ...(text !== undefined && { "content-type": "application/json" }) },
      timeout: REQUEST_SECONDS * 1000,
    });
    sent.on("timeout", () => sent.destroy(new Error(`${domain}${path} does not respond`)));
    sent.on("error", reject);
    sent.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, cookies: [], headers: response.headers, body: Buffer.alloc(0) });
    });
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          cookies: response.headers["set-cookie"] ?? [],
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.end(text);
  });
}

const RpcReply = z.object({
  result: z.unknown().optional(),
  error: z.object({ data: z.object({ message: z.string() }) }).optional(),
});
const Ids = z.array(z.number());

export interface Erp {
  /** The session, for other requests. */
  cookie: string;
  create: (model: string, values: Readonly<Record<string, unknown>>) => Promise<number>;
  /** The IDs of the matching records, including inactive ones. */
  search: (model: string, domain: readonly unknown[]) => Promise<number[]>;
  write: (model: string, ids: readonly number[], values: Readonly<Record<string, unknown>>) => Promise<void>;
  remove: (model: string, ids: readonly number[]) => Promise<void>;
  parameter: (key: string) => Promise<string>;
  /** A file's bytes, as the browser gets them. */
  file: (attachmentId: number) => Promise<Buffer | undefined>;
  /** The status of the ERP's response to a live connection. */
  websocket: () => Promise<number>;
}

/** Undefined if the ERP rejects the sign-in. */
export async function signIn(
  site: Site,
  { database, login, password }: { database: string; login: string; password: string },
): Promise<Erp | undefined> {
  const reply = await fetchPage(site, "/web/session/authenticate", {
    body: { jsonrpc: "2.0", method: "call", params: { db: database, login, password } },
  });
  const { error } = RpcReply.parse(JSON.parse(reply.body.toString()));
  if (error !== undefined) return undefined;
  const cookie = reply.cookies.map((each) => each.split(";")[0]).join("; ");

  const call = async (
    model: string,
    method: string,
    args: unknown[],
    context: Record<string, unknown> = {},
  ): Promise<unknown> => {
    const body = { jsonrpc: "2.0", method: "call", params: { model, method, args, kwargs: { context } } };
    const response = await fetchPage(site, `/web/dataset/call_kw/${model}/${method}`, { body, headers: { cookie } });
    if (response.status !== 200) throw new Error(`${model}.${method} of ${site.domain} returned ${response.status}`);
    const parsed = RpcReply.parse(JSON.parse(response.body.toString()));
    if (parsed.error !== undefined) throw new Error(`${model}.${method} of ${site.domain}: ${parsed.error.data.message}`);
    return parsed.result;
  };

  return {
    cookie,
    create: async (model, values) => {
      const [id] = Ids.parse(await call(model, "create", [[values]]));
      if (id === undefined) throw new Error(`No ${model} was made`);
      return id;
    },
    search: async (model, domain) => Ids.parse(await call(model, "search", [domain], { active_test: false })),
    write: async (model, ids, values) => void (await call(model, "write", [ids, values])),
    remove: async (model, ids) => void (await call(model, "unlink", [ids])),
    parameter: async (key) => z.string().parse(await call("ir.config_parameter", "get_param", [key])),
    file: async (attachmentId) => {
      const { status, body } = await fetchPage(site, `/web/content/${attachmentId}`, { headers: { cookie } });
      return status === 200 ? body : undefined;
    },
    websocket: async () =>
      (
        await fetchPage(site, "/websocket", {
          headers: {
            cookie,
            origin: `https://${site.domain}`,
            connection: "Upgrade",
            upgrade: "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": Buffer.alloc(16, "erp").toString("base64"),
          },
        })
      ).status,
  };
}
