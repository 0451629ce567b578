// Parameters of an endpoint: in its path, its query and its headers.
import type * as z from "zod";
import { exampleId, idForm, ID_PREFIXES, type IdKind } from "../../domain/id-kinds.ts";
import type { Route } from "../index.ts";
import type { Components, Parameter } from "./document.ts";
import { toSchema } from "./schemas.ts";

export const EXAMPLE_ETAG = '"Qm9uam91ciBsZSBtb25kZS"';

export const PARAMETERS: Record<string, Parameter> = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "Any unique value. If you send the same request again, you get the first response and nothing is done twice.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[ -~]+$" },
    example: "7f1d2c9e-create-shop",
  },
  DryRun: {
    name: "dry_run",
    in: "query",
    required: false,
    description:
      "With `true`, makes every check and changes nothing: the response is 200 with what the request would do, or the error that it would get. `Idempotency-Key` is ignored.",
    schema: { type: "string", enum: ["true", "false"] },
    example: "false",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: false,
    description:
      "One or more `ETag`s of the resource, or `*`. The change is made only if the resource is still one of these versions.",
    schema: { type: "string", maxLength: 8192, pattern: "^[ -~]*$" },
    example: EXAMPLE_ETAG,
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The `ETag` that you have. If it is still current, the response is `304` without a body.",
    schema: { type: "string", maxLength: 8192, pattern: "^[ -~]*$" },
    example: EXAMPLE_ETAG,
  },
  IfNoneMatchOfPut: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "With `*`, the resource is only created: if there is one already, the response is 412 and nothing is changed.",
    schema: { type: "string", maxLength: 8192, pattern: "^[ -~]*$" },
    example: "*",
  },
  RequestId: {
    name: "X-Request-ID",
    in: "header",
    required: false,
    description: "Your own identifier for tracing; returned in the response",
    schema: { type: "string", maxLength: 128, pattern: "^[A-Za-z0-9._:-]{1,128}$" },
    example: "my-trace-42",
  },
};

const WORDS: Partial<Record<IdKind, string>> = { ssh_key: "SSH key", token: "API token", second_factor: "second factor" };

/** What `:id` names, by the segment before it: `/instances/:id/backups` is of an instance. */
export function resourceIn(path: string): { kind: IdKind; words: string } | undefined {
  const kind = /\/([a-z-]+)s\/:id/.exec(path)?.[1]?.replace("-", "_");
  if (kind === undefined || !isIdKind(kind)) return undefined;
  return { kind, words: WORDS[kind] ?? kind };
}

const isIdKind = (kind: string): kind is IdKind => Object.hasOwn(ID_PREFIXES, kind);

/** Parameters of paths that are no IDs. */
const OTHERS: Readonly<Record<string, { description: string; pattern: string; maxLength: number }>> = {
  name: { description: "Name of the repository", pattern: "^[a-z0-9][a-z0-9-]{0,62}$", maxLength: 63 },
  secret: { description: "The secret of the deploy hook", pattern: "^[A-Za-z0-9_-]{28}$", maxLength: 28 },
};

export const pathParameters = ({ path }: Route): Parameter[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const { kind, words } = resourceIn(path) ?? {};
    const { description = words === undefined ? "ID of the resource" : `ID of the ${words}`, ...form } = OTHERS[name] ?? {};
    return {
      name,
      in: "path",
      required: true,
      description,
      schema: { type: "string", ...(kind === undefined ? form : idForm(kind)) },
      ...(kind !== undefined && { example: exampleId(kind) }),
    };
  });

export function queryParameters(query: z.ZodType, components: Components): Parameter[] {
  const { properties = {} } = toSchema(query, "query", components);
  const { properties: sent = {}, required = [] } = toSchema(query, "body", components);
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    description: description ?? "Return only records with exactly this value",
    // A list that is sent as one text has commas between its values.
    ...(schema.type === "array" && sent[name]?.type === "string" && { explode: false }),
    schema,
  }));
}
