// What API Gateway does if an API has a `minimumCompressionSize`: it compresses responses and decompresses bodies.
import { promisify } from "node:util";
import { deflate, gzip, inflate, unzip } from "node:zlib";
import { GatewayError } from "./errors.ts";
import { BODY_LIMIT_BYTES } from "./request.ts";

const COMPRESS = { gzip: promisify(gzip), deflate: promisify(deflate) };
const OPEN = { gzip: promisify(unzip), deflate: promisify(inflate) };
type Coding = keyof typeof COMPRESS;
const isCoding = (name: string): name is Coding => Object.hasOwn(COMPRESS, name);

/** The coding that a client prefers; undefined if it is none of these, or none at all. */
function codingFor(acceptEncoding: string): Coding | undefined {
  const offers = acceptEncoding.split(",").map((offer) => {
    const [name = "", ...parameters] = offer.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((each) => each.startsWith("q="))?.slice(2) ?? "1";
    return { name: name === "*" ? "gzip" : name, quality: Number(quality) };
  });
  const [best] = offers.filter(({ quality }) => quality > 0).toSorted((a, b) => b.quality - a.quality);
  return best !== undefined && isCoding(best.name) ? best.name : undefined;
}

export async function compressed<R extends { headers: [string, string][]; body: Buffer }>(
  response: R,
  minimumBytes: number | undefined,
  acceptEncoding: string | undefined,
): Promise<R> {
  if (minimumBytes === undefined || response.body.length < minimumBytes) return response;
  if (response.headers.some(([name]) => name === "content-encoding")) return response;
  const coding = codingFor(acceptEncoding ?? "");
  if (coding === undefined) return response;
  return {
    ...response,
    headers: [...response.headers, ["content-encoding", coding]],
    body: await COMPRESS[coding](response.body),
  };
}

export async function opened(body: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  const coding = contentEncoding?.trim().toLowerCase() ?? "";
  if (!isCoding(coding) || body.length === 0) return body;
  return OPEN[coding](body, { maxOutputLength: BODY_LIMIT_BYTES }).catch((cause: unknown) => {
    const tooLarge = cause instanceof RangeError;
    throw new GatewayError(tooLarge ? "REQUEST_TOO_LARGE" : "BAD_REQUEST_BODY", cause);
  });
}
