// Entity tags (RFC 9110): the version of a response, and the conditions that clients put on it.
import { hash } from "node:crypto";
import { canonical } from "./canonical.ts";

/** 132 bits: no two versions share a tag. */
const TAG_CHARACTERS = 22;

const buildTag = (text: string): string => `"${hash("sha256", text, "base64url").slice(0, TAG_CHARACTERS)}"`;

/**
 * The fields of a resource that make up its version, in the order that its tag takes them: sorting them for each request would
 * cost a tenth of its time.
 */
export const versionedFields = (shape: object, unversioned: readonly string[]): readonly string[] =>
  Object.keys(shape)
    .filter((name) => !unversioned.includes(name))
    .toSorted();

/** The tag of a resource, from these of its fields; without them from the whole document. */
export const buildEtag = (representation: object, fields?: readonly string[]): string =>
  buildTag(canonical(fields === undefined ? representation : fields.map((name): unknown => Reflect.get(representation, name))));

/** The tag of a document: weak, because it may be sent compressed. */
export const buildWeakEtag = (document: unknown): string => `W/${buildTag(JSON.stringify(document))}`;

/** The tags in `If-Match` or `If-None-Match`; `*` matches any. Anything that is not a tag matches nothing. */
type Tags = "*" | readonly string[];

export const tagsIn = (header: string): Tags => (header.trim() === "*" ? "*" : (header.match(/(?:W\/)?"[^"]*"/g) ?? []));

/** Compares as `If-Match` does: a weak tag never matches. */
export const matches = (tags: Tags, etag: string): boolean => tags === "*" || tags.includes(etag);

const opaque = (etag: string): string => etag.replace(/^W\//, "");

/** Compares as `If-None-Match` does. */
export const matchesWeakly = (tags: Tags, etag: string): boolean => tags === "*" || tags.map(opaque).includes(opaque(etag));
