// What an endpoint declares, and the types of its request and response that follow from the declaration.
import type * as z from "zod";
import type { WorkflowName } from "../domain/lifecycle.ts";
import type { Permission } from "./permissions.ts";
import type { RequiredRole } from "./roles.ts";
import type { ApiError } from "./errors.ts";

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The limit a request counts against beside the limit on all requests. */
export type RateClass = "all" | "create_delete";

/** Who may call: anyone, any credential, a dashboard session, or a credential with all of these permissions. */
type Access = "public" | "credential" | "session" | readonly Permission[];

/** A permission that depends on a field of the body, checked once the body is known to be valid. */
interface BodyPermission {
  field: string;
  permissions: Readonly<Record<string, Permission>>;
}

/** A permission that is needed if the body has this field, checked likewise. */
interface FieldPermission {
  field: string;
  permission: Permission;
}

/** A role that a session needs if the body has one of these fields. */
interface FieldRole {
  fields: readonly string[];
  role: RequiredRole;
}

/** What decides whether a request needs a fresh proof of a second factor. */
interface Proven {
  id: string | undefined;
  body: Readonly<Record<string, unknown>>;
  callerId: string;
}

/** Names of the `:parameters` of a path, so that a handler cannot read one that is not there. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

export interface Endpoint<
  Path extends string = string,
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Data extends z.ZodType = z.ZodType,
  Listed extends boolean = boolean,
  Dry extends boolean = boolean,
> {
  method: Method;
  path: Path;
  summary: string;
  /** What the API page says beyond the summary. */
  description: string;
  access: Access;
  /** The role that a session needs besides. */
  role: RequiredRole | undefined;
  fieldRole: FieldRole | undefined;
  bodyPermission: BodyPermission | undefined;
  fieldPermission: FieldPermission | undefined;
  /** Whether a session of a user with a second factor needs a fresh proof of it. */
  proof: ((request: Proven) => boolean) | undefined;
  rate: RateClass;
  status: 200 | 201 | 202;
  query: Query;
  body: Body;
  /** How many bytes a body may have that nobody reads, whatever they are; undefined: it is parsed. */
  unreadBytes: number | undefined;
  data: Data;
  /** Whether the response is a page of a list, with `meta`. */
  list: Listed;
  /**
   * Fields of the data that do not change its ETag, because they change on their own or follow from other records or fields;
   * undefined: the response has no ETag.
   */
  unversioned: readonly string[] | undefined;
  /** Whether `If-Match` is supported: every DELETE, and every PUT whose response has an ETag. */
  conditional: boolean;
  /** Whether the PUT creates what is not there yet, so that it supports `If-None-Match`. */
  upserts: boolean;
  /** The values of the response's example that differ from the examples of its fields: a new instance is not `running` yet. */
  example: Readonly<Record<string, unknown>>;
  /** Errors beyond those that follow from the rest of this declaration: only their description needs them. */
  errors: () => readonly ApiError[];
  starts: readonly WorkflowName[];
  /** Whether `Idempotency-Key` is supported: every POST but `/auth/*` and `/hooks/*`. */
  idempotent: boolean;
  /**
   * Whether a retry with the key gets the first response. Otherwise it runs again, because it has the same effect, and its
   * response is large or expires.
   */
  storesResponse: boolean;
  /** Whether `?dry_run=true` is supported: the handler checks everything and writes nothing. */
  dryRun: Dry;
  /** The parameter by which a request waits for so many seconds, if it can. */
  waits: "wait" | "follow" | undefined;
  /** Exists only in the deployment of this environment. */
  only: "test" | undefined;
  /** Whether the response is the document itself instead of the envelope (`/openapi.json`). */
  unenveloped: boolean;
}

type Draft<P extends string, Q, B, D, L, X> = Pick<Endpoint, "method" | "summary" | "access"> &
  Partial<Omit<Endpoint, "path" | "query" | "body" | "data" | "list" | "dryRun" | "rate">> & {
    path: P;
    query?: Q;
    body?: B;
    data: D;
    list?: L;
    dryRun?: X;
  };

/** Fills in what most endpoints have in common; creations and deletions are counted by method and status. */
export function endpoint<
  const P extends string,
  D extends z.ZodType,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  const L extends boolean = false,
  const X extends boolean = false,
>(draft: Draft<P, Q, B, D, L, X>): Endpoint<P, Q, B, D, L, X> {
  const idempotent = draft.method === "POST" && !/^\/(?:auth|hooks)\//.test(draft.path);
  const creates = draft.method === "POST" && draft.status === 201;
  return {
    unversioned: undefined,
    unreadBytes: undefined,
    conditional: draft.method === "DELETE" || (draft.method === "PUT" && draft.unversioned !== undefined),
    upserts: false,
    description: "",
    role: undefined,
    fieldRole: undefined,
    bodyPermission: undefined,
    fieldPermission: undefined,
    proof: undefined,
    rate: creates || draft.method === "DELETE" ? "create_delete" : "all",
    status: 200,
    example: {},
    errors: () => [],
    starts: [],
    idempotent,
    storesResponse: idempotent,
    waits: undefined,
    only: undefined,
    unenveloped: false,
    ...draft,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the draft's own, or undefined, as Q then says
    query: draft.query as Q,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
    body: draft.body as B,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise, false if it is not given
    list: (draft.list ?? false) as L,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
    dryRun: (draft.dryRun ?? false) as X,
  };
}

type Out<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler receives. */
export type RequestOf<E> =
  E extends Endpoint<infer P, infer Q, infer B> ? { params: ParamsOf<P>; query: Out<Q>; body: Out<B> } : never;

/** A parameter of several values is repeated. */
export type QueryOf = Record<string, string | number | readonly string[] | undefined>;

/** What a caller of the typed client passes: parameters only where the path has them. */
export type CallOf<E> =
  E extends Endpoint<infer P, infer Q, infer B>
    ? (P extends `${string}:${string}` ? { params: ParamsOf<P> } : unknown) &
        (Q extends z.ZodType ? { query?: QueryOf } : unknown) &
        (B extends z.ZodType ? { body: z.input<B> } : unknown)
    : never;

export type DataOf<E> = E extends { data: infer D extends z.ZodType } ? z.output<D> : never;
export type DataIn<E> = E extends { data: infer D extends z.ZodType } ? z.input<D> : never;
