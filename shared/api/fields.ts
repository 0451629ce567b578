// The fields that several resources share: ids, timestamps, names, lists.
import * as z from "zod";

/** Prefix of each kind of id (TypeID: prefix, underscore, 26 characters of base32, sortable by creation time). */
export const ID_PREFIXES = {
  account: "acc",
  user: "usr",
  token: "tok",
  ssh_key: "key",
  server: "srv",
  instance: "ins",
  backup: "bak",
  operation: "op",
  event: "evt",
  session: "ses",
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford base32 in lower case; 26 characters hold 130 bits, so the first is at most 7. */
const ID_SUFFIX = "[0-7][0-9a-hjkmnp-tv-z]{25}";
const EXAMPLE_SUFFIX = "01kag8w1s2e7tv8q4m5n6p7r8s";

export const id = (kind: IdKind) =>
  z
    .string()
    .regex(new RegExp(`^${ID_PREFIXES[kind]}_${ID_SUFFIX}$`), `must be the id of ${described(kind)}`)
    .meta({ examples: [exampleId(kind)] });

/** The id that examples show for a kind of resource. */
export const exampleId = (kind: IdKind): string => `${ID_PREFIXES[kind]}_${EXAMPLE_SUFFIX}`;

const described = (kind: IdKind) => (kind === "ssh_key" ? "an SSH key" : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`);

/** ISO 8601 UTC with milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 }).meta({ examples: ["2026-11-20T12:00:00.000Z"] });

/** Printable characters only: no control characters, no line breaks, not just spaces. */
const PRINTABLE = /^(?=.*\S)[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+$/u;
export const text = (maximum: number, example: string) =>
  z
    .string()
    .min(1, "must not be empty")
    .max(maximum, `must have at most ${maximum} characters`)
    .regex(PRINTABLE, "must be printable characters")
    .meta({ examples: [example] });

export const email = z
  .email("must be an e-mail address")
  .max(254, "must have at most 254 characters")
  .meta({ examples: ["admin@example.com"] });

/** A lower-case fully qualified domain name: at least two labels, at most 253 characters (RFC 1035). */
export const domain = z
  .string()
  .max(253, "must have at most 253 characters")
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    "must be a lower-case domain name such as shop.example.com",
  )
  .meta({ examples: ["shop.example.com"] });

/** A provider's, region's or size's code. What exists is in the catalogue; this only keeps nonsense out. */
export const code = (example: string) =>
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, "must be a code from the catalogue")
    .meta({ examples: [example] });

/** The operation that holds a resource now, or null. */
export const heldBy = id("operation")
  .nullable()
  .meta({ description: "The operation that holds the resource now, or null", examples: [null] });

export const statusReason = z
  .string()
  .nullable()
  .meta({ description: "Why the resource is in this status, in words", examples: [null] });

/** Who did something: an API token or a user of the dashboard; `operator` is the person who runs the service. */
export const actor = z
  .object({
    type: z.enum(["token", "user", "operator"]).meta({ examples: ["token"] }),
    id: z.string().meta({ examples: [`tok_${EXAMPLE_SUFFIX}`] }),
    name: z.string().meta({ examples: ["Deploy pipeline"] }),
  })
  .meta({ id: "Actor" });
export type Actor = z.infer<typeof actor>;

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().int().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`));

/** Highest page that can be asked for; far past any list, so that offsets stay exact numbers. */
const PAGE_MAX = 1_000_000_000;

/** Query of a list: `page` or `cursor`, `per_page`, and at most one of the list's filters. */
export const listQuery = <F extends Record<string, z.ZodType>>(filters: F) => {
  const shape = {
    page: wholeNumber(1, PAGE_MAX)
      .optional()
      .meta({ description: "Page number, from 1 (the default)", examples: [1] }),
    per_page: wholeNumber(1, 100)
      .default(20)
      .meta({ description: "Records on a page, at most 100", examples: [20] }),
    cursor: z
      .string()
      .min(1, "must not be empty")
      .max(512, "must have at most 512 characters")
      .optional()
      .meta({ description: "`meta.next_cursor` of the page before; not together with `page`" }),
    ...optional(filters),
  };
  return z.strictObject(shape).check((context) => {
    const query: Record<string, unknown> = context.value;
    const refuse = (field: string, message: string) =>
      context.issues.push({ code: "custom", path: [field], message, input: query[field] });
    if (query["page"] !== undefined && query["cursor"] !== undefined) refuse("cursor", "cannot be used together with page");
    const [, second] = Object.keys(filters).filter((name) => query[name] !== undefined);
    if (second !== undefined) refuse(second, "only one filter at a time");
  });
};

type Optional<F extends Record<string, z.ZodType>> = { [K in keyof F]: z.ZodOptional<F[K]> };
const optional = <F extends Record<string, z.ZodType>>(filters: F) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose which name has which type
  Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, schema.optional()])) as Optional<F>;

/** Seconds a request may wait for an operation's end: below the gateway's limit of 29. */
export const waitSeconds = wholeNumber(0, 20)
  .default(0)
  .meta({ description: "Seconds to wait for the operation to end", examples: [10] });

export const ListMeta = z
  .object({
    page: z
      .number()
      .int()
      .meta({ examples: [1] }),
    per_page: z
      .number()
      .int()
      .meta({ examples: [20] }),
    total: z
      .number()
      .int()
      .meta({ description: "Records that the filter lets through", examples: [1] }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Walks the list on from here; null at its end", examples: [null] }),
  })
  .meta({ id: "ListMeta" });
export type ListMeta = z.infer<typeof ListMeta>;

/** Data of an answer to a deletion that is done at once. */
export const deleted = (kind: IdKind) => z.object({ id: id(kind), deleted: z.literal(true).meta({ examples: [true] }) });

/** A body in which every field is optional but one must be given. */
export const atLeastOne = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape).check((context) => {
    const [first] = Object.keys(shape);
    if (first !== undefined && Object.values(context.value).every((value) => value === undefined))
      context.issues.push({
        code: "custom",
        path: [first],
        message: `give at least one of: ${Object.keys(shape).join(", ")}`,
        input: context.value,
      });
  });
