// The parts of OpenAPI that our document uses.
//
/* oxlint-disable typescript/consistent-type-definitions -- the document is also an endpoint's response, and only types are records */
export type Reference = { $ref: string };

/** What our zod schemas become: a part of JSON Schema 2020-12. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  /** The values of a response, to which later versions may add others. */
  "x-extensible-enum"?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  not?: Schema;
};
export type Header = { description: string; schema: Schema };
export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  /** False: values of an array are separated by commas, not sent as parameters of their own. */
  explode?: boolean;
  schema: Schema;
  example?: unknown;
};
export type Example = { value: unknown };
export type Media = { schema: Schema; example?: unknown; examples?: Record<string, Example> };
export type Response = {
  description: string;
  headers: Record<string, Header | Reference>;
  content: { "application/json": Media };
};
/** A response without a body. */
export type Empty = Omit<Response, "content">;
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: { "application/json": Media } };
  responses: Record<string, Response | Reference>;
  /**
   * Who may call: `public`, `credential` (any), `session`, or the permissions needed; by the body's field where they depend on
   * it.
   */
  "x-permission": string | readonly string[] | Record<string, Readonly<Record<string, string>>>;
  "x-rate-limit": string;
  /** Types of the operations that it may start. */
  "x-operations"?: readonly string[];
};
export type OpenApi = {
  openapi: string;
  info: { title: string; version: string; description: string; contact: { name: string } };
  servers: { url: string; description: string; "x-internal": boolean }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, { type: string; scheme: string; description: string }>;
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    responses: Record<string, Response | Empty>;
  };
};

export type Components = OpenApi["components"];

export const ref = (kind: keyof Components, name: string): Reference => ({ $ref: `#/components/${kind}/${name}` });
