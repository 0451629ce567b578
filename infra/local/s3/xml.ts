// S3's XML: the responses of the local S3, and the body of CompleteMultipartUpload.
import { XMLBuilder, XMLParser } from "fast-xml-parser";
import * as z from "zod";
import { AwsFault } from "../errors.ts";

type Value = string | number | boolean | null | undefined;
/** Tags with their content, in order. A list becomes a tag per item; undefined and null are left out. */
export interface Tags {
  readonly [tag: string]: Value | Tags | readonly Tags[];
}

const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: "@" });
const parser = new XMLParser({ parseTagValue: false, htmlEntities: true, isArray: (tag) => tag === "Part" });

export function toXml(root: string, content: Tags): string {
  const body = builder.build({ "?xml": { "@version": "1.0", "@encoding": "UTF-8" }, [root]: withoutEmpty(content) });
  // A parser would read it as a line feed.
  return body.replaceAll("\r", "&#13;");
}

/** Returns XML in the namespace of S3's responses; errors have none. */
export const toS3Xml = (root: string, content: Tags): string =>
  toXml(root, { "@xmlns": "http://s3.amazonaws.com/doc/2006-03-01/", ...content });

const withoutEmpty = (content: Tags): Tags =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined && value !== null));

const Completion = z.object({
  CompleteMultipartUpload: z.object({ Part: z.array(z.record(z.string(), z.string())).min(1) }),
});

/** The parts that CompleteMultipartUpload names, each with its tags. */
export function readParts(text: string): Record<string, string>[] {
  const parsed = Completion.safeParse(parser.parse(text));
  if (parsed.success) return parsed.data.CompleteMultipartUpload.Part;
  throw new AwsFault("MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
}
