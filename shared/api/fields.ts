// The fields that several resources share: ids, timestamps, names, lists.
import * as z from "zod";
import { asciiDomain, asciiEmail } from "../domain/international.ts";
import { exampleId, idForm, type IdKind } from "../domain/id-kinds.ts";
import { utf8Bytes } from "../domain/json-bytes.ts";
import { LABEL_CHARACTERS, LABELS_BYTES_MAX, LABELS_MAX, LABELS_PER_QUERY, LISTED_MAX, PER_PAGE_MAX } from "../domain/limits.ts";

const ids = new Map<IdKind, z.ZodString>();

/** One schema for each kind: a function that begins work would otherwise build fifty when it starts. */
export function id(kind: IdKind): z.ZodString {
  const cached = ids.get(kind);
  if (cached !== undefined) return cached;
  const { pattern, maxLength } = idForm(kind);
  const schema = z
    .string()
    .regex(new RegExp(pattern), `must be the id of ${described(kind)}`)
    .meta({ examples: [exampleId(kind)], maxLength });
  ids.set(kind, schema);
  return schema;
}

const described = (kind: IdKind) => (kind === "ssh_key" ? "an SSH key" : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`);

/** ISO 8601 UTC with milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 }).meta({ examples: ["2026-11-20T12:00:00.000Z"] });

/** Text of so many characters, counted as JSON Schema counts them: most emoji are one, a flag is two. */
export const characters = (minimum: number, maximum: number, counted = (value: string): string => value) =>
  z
    .string()
    .refine(
      (value) => countUpTo(minimum, counted(value)) >= minimum,
      minimum === 1 ? "must not be empty" : `must have at least ${minimum} characters`,
    )
    .refine((value) => countUpTo(maximum + 1, counted(value)) <= maximum, `must have at most ${maximum} characters`)
    .refine((value) => !LONE_SURROGATE.test(value), "must be Unicode text")
    .meta({ minLength: minimum, maxLength: maximum });

const trimmed = (value: string): string => value.trim();

function countUpTo(limit: number, value: string): number {
  let count = 0;
  for (const _ of value) if (++count >= limit) break;
  return count;
}

const LONE_SURROGATE = /\p{Cs}/u;

// Patterns are written so that Python, Go, Rust and JavaScript without the flag `u` can read them too, because the API's
// description shows them: no lookaround, no \p, characters above U+00FF as they are, and none above U+FFFF.

/** Control characters, and those that nobody sees: formatting (but what Persian, Mongolian and emoji need), private use. */
const UNPRINTABLE =
  "\\x00-\\x1f\\x7f-\\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff\ufff9-\ufffb";
/** Spaces and joiners, with fillers and what only changes the character before it. */
const SPACES_AND_JOINERS =
  "\\x20\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180d\u180f\u2000-\u200a\u200c\u200d\u202f\u205f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0";
/** A text with at least one visible character. The pattern's parts exclude each other, so that no text makes matching slow. */
const PRINTABLE = new RegExp(`^[${SPACES_AND_JOINERS}]*[^${UNPRINTABLE}${SPACES_AND_JOINERS}][^${UNPRINTABLE}]*$`, "u");

/** The same above U+FFFF: formatting of shorthand and music, tags, private use; and what is no character at all. */
const UNPRINTABLE_BEYOND =
  /[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}\u{f0000}-\u{10ffff}\ufdd0-\ufdef\ufffe\uffff]/u;

/** Behind a black flag, tags make the flag of a region, such as England. */
const FLAG_TAGS = /(?<=\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

const isPrintable = (value: string): boolean => !UNPRINTABLE_BEYOND.test(value.replace(FLAG_TAGS, ""));

const NOT_PRINTABLE = "must contain only printable characters, at least one of them not a space";

/** A name or a note: printable, on one line; surrounding spaces are removed. */
export const text = (maximum: number, example: string) =>
  characters(1, maximum, trimmed)
    .regex(PRINTABLE, NOT_PRINTABLE)
    .refine(isPrintable, NOT_PRINTABLE)
    .trim()
    .meta({ examples: [example] });

/** RFC 5321, without quoted names and address literals; the last label is no number. */
const EMAIL =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9-]{0,58}[A-Za-z0-9])$/;
const LOCAL_PART_MAX = 64;
export const email = z
  .email({ pattern: EMAIL, error: "must be an email address" })
  .refine((value) => value.indexOf("@") <= LOCAL_PART_MAX, `must have at most ${LOCAL_PART_MAX} characters before the @`)
  .max(254, "must have at most 254 characters")
  .meta({ examples: ["admin@example.com"] });

/** The same in a request, where its domain may be in another script. */
export const emailInput = z
  .string()
  .overwrite(asciiEmail)
  .regex(EMAIL, "must be an email address")
  .refine((value) => value.indexOf("@") <= LOCAL_PART_MAX, `must have at most ${LOCAL_PART_MAX} characters before the @`)
  .max(254, "must have at most 254 characters")
  .meta({ format: "idn-email", pattern: "^[!-?A-~]+@[^\\x00-\\x2c/:-@[-`{-\\x7f]+$", examples: ["admin@example.com"] });

/** An email as people read it. */
export const emailUnicode = z.string().meta({
  description: "The email as people read it; another one only if its domain is international",
  examples: ["admin@example.com"],
});

const LABEL_KEY = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
const LABEL_VALUE = new RegExp(`^$|${PRINTABLE.source}`, "u");

/** Labels as a request sets them: the whole map. */
export const labels = z
  .record(
    z
      .string()
      .regex(
        LABEL_KEY,
        "is not a valid label key: use 1 to 63 lowercase letters, digits, dots, hyphens and underscores, starting with a letter or digit",
      )
      .meta({ maxLength: 63 }),
    characters(0, LABEL_CHARACTERS, trimmed).regex(LABEL_VALUE, NOT_PRINTABLE).refine(isPrintable, NOT_PRINTABLE).trim(),
  )
  .refine((map) => Object.keys(map).length <= LABELS_MAX, `must have at most ${LABELS_MAX} labels; remove some`)
  .refine(
    (map) => utf8Bytes(Object.entries(map).flat().join("")) <= LABELS_BYTES_MAX,
    `must have at most ${LABELS_BYTES_MAX} bytes of UTF-8, keys and values together`,
  )
  .meta({
    description: `Up to ${LABELS_MAX} labels, at most ${LABELS_BYTES_MAX} bytes of UTF-8 in all. The map replaces the present one, so send all labels that you want to keep`,
    examples: [{ env: "production" }],
    maxProperties: LABELS_MAX,
  });
export type Labels = z.infer<typeof labels>;

/** Labels in a response. */
export const shownLabels = z.record(z.string(), z.string()).meta({
  description: "Your own `key: value` pairs, to filter lists by",
  examples: [{ env: "production" }],
});

/** A lowercase fully qualified domain name: at least two labels, the last one no number, at most 253 characters (RFC 1035). */
const asDomain = (text: z.ZodString) =>
  text
    .max(253, "must have at most 253 characters")
    .regex(
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      "must be a lowercase domain name such as shop.example.com",
    );
export const domain = asDomain(z.string()).meta({ examples: ["shop.example.com"] });

/** The same in a request, where it may be in another script. */
export const domainInput = asDomain(z.string().overwrite(asciiDomain)).meta({
  description: "A lowercase domain name. It may be international (`müller.example.com`): its ASCII form is stored and shown",
  examples: ["shop.example.com"],
  pattern: "^[^\\x00-\\x2c/:-`{-\\x7f]+$",
});

/** A domain as people read it. */
export const domainUnicode = z.string().meta({
  description: "The domain as people read it; the same as `domain` unless that is international",
  examples: ["shop.example.com"],
});

/** A provider's, region's or size's code. The catalog lists the valid ones; this only rejects malformed values. */
export const code = (example: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "must be a code from the catalog")
    .meta({ examples: [example], maxLength: 63 });

/** The operation in progress on a resource, or null. */
export const heldBy = id("operation")
  .nullable()
  .meta({ description: "The operation in progress on this resource, or null", examples: [null] });

/** What a sentence says, for clients that have words of their own. */
export const coded = (example: string) => ({
  code: z.string().meta({ description: "What the sentence says; new codes may appear", examples: [example] }),
  parameters: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .meta({ description: "The values in the sentence", examples: [{}] }),
});

export const Reason = z.object(coded("machine_gone")).meta({ id: "Reason" });

/** The code of a `status_reason`, of an operation's error or of a check. */
export const reason = Reason.nullable().meta({
  description: "The sentence as a code with parameters; null if it has none",
  examples: [null],
});

export const statusReason = z
  .string()
  .nullable()
  .meta({ description: "Why the resource has this status, for people to read", examples: [null] });

/**
 * Who did something: an API token, a user of the dashboard, a backup policy; `operator` is the person who runs the service,
 * `service` the service itself.
 */
export const Actor = z
  .object({
    type: z.enum(["token", "user", "operator", "schedule", "service", "hook"]).meta({ examples: ["token"] }),
    id: z.string().meta({ examples: [exampleId("token")] }),
    name: z.string().meta({ examples: ["Deploy pipeline"] }),
  })
  .meta({ id: "Actor" });
export type Actor = z.infer<typeof Actor>;

/** A whole number in a query, which arrives as text. */
export const queryInteger = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .pipe(z.number().int().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`));

/** A bound of bytes in a query: up to a terabyte. */
export const queryBytes = queryInteger(1, 999_999_999_999);

const PER_PAGE = 20;

/** The highest page number; far beyond any list, so that offsets stay exact numbers. */
const PAGE_MAX = 1_000_000_000;

const DATE = "\\d{4}-\\d{2}-\\d{2}";
const TIME = "[Tt]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)";
const AN_OFFSET = "2026-11-20T13:00:00+01:00";

/** A time in a request, in RFC 3339, becomes what the service stores: UTC with milliseconds. */
const moment = (text: z.ZodString, pattern: string, error: string) =>
  text
    .refine((value) => new RegExp(pattern).test(value) && toUtc(value) !== undefined, error)
    .overwrite((value) => toUtc(value) ?? value);

/**
 * Rounded up to milliseconds, so that what is created before or after the time stays so; undefined for days and years that do not
 * exist.
 */
function toUtc(value: string): string | undefined {
  const [day, at] = [new Date(value.slice(0, 10)), new Date(value.toUpperCase())];
  if (Number.isNaN(at.valueOf()) || !isDay(day, value.slice(0, 10))) return undefined;
  const isBetween = /\.\d{3}\d*[1-9]/.test(value);
  const utc = new Date(at.valueOf() + (isBetween ? 1 : 0)).toISOString();
  return utc.length === "2026-11-20T12:00:00.000Z".length ? utc : undefined;
}

/** JavaScript takes February 30 for March 2. */
const isDay = (day: Date, text: string): boolean => !Number.isNaN(day.valueOf()) && day.toISOString().startsWith(text);

/** A time in a body. */
export const time = moment(
  z.string(),
  `^${DATE}${TIME}$`,
  `must be a time with an offset such as 2027-01-31T00:00:00Z or ${AN_OFFSET}`,
).meta({ format: "date-time", maxLength: 35 });

/** A moment in a query: a date, which is UTC, or a time. A plus sign that was not encoded arrives as a space. */
const MOMENT = `^${DATE}(${TIME.replace("[+-]", "[ +-]")})?$`;
export const MOMENT_FORM = { pattern: MOMENT, maxLength: 35 };
export const queryMoment = moment(
  z.string().overwrite((value) => value.replace(" ", "+")),
  MOMENT,
  `must be a date or a time with an offset such as 2026-11-20, 2026-11-20T12:00:00Z or ${AN_OFFSET}`,
);

const ranges = {
  created_after: queryMoment
    .optional()
    .meta({ description: "Only records created at this time or later", examples: ["2026-11-20"], ...MOMENT_FORM }),
  created_before: queryMoment
    .optional()
    .meta({ description: "Only records created earlier than this time", examples: ["2026-12-01T12:00:00Z"], ...MOMENT_FORM }),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .meta({
      description: "`desc` is newest first, `asc` oldest first. The default is `desc`, and `asc` with `sort=name`",
      examples: ["desc"],
    }),
};

const LABEL_FILTER = "^[a-z0-9][a-z0-9_.-]{0,62}:";

/** Words to find. Emoji, also those of punctuation and keycaps, and other symbols are no mistake, but find nothing. */
export const searchWords = text(100, "shop").refine(
  (value) => /[\p{L}\p{N}\p{S}\p{Extended_Pictographic}\u20e3]/u.test(value),
  "must contain a letter or a digit",
);

/** What else the lists take whose records have a name. */
const finding = {
  label: z
    .array(z.string().meta({ pattern: LABEL_FILTER, maxLength: 252 }))
    .max(LABELS_PER_QUERY, `must be at most ${LABELS_PER_QUERY} labels`)
    .refine((all) => all.every((each) => new RegExp(LABEL_FILTER).test(each)), "must be a label such as env:production")
    .meta({
      description: `Only records with this label, \`key:value\`. Repeat it for records that have all of several, up to ${LABELS_PER_QUERY}; a search for an email or IP address and most filters count as one each (docs/api.md)`,
      examples: [["env:production"]],
    }),
  search: searchWords.meta({
    description:
      "Only records with words that begin with each of these, in name, domain, database name or note, or with this ID, IP address or email; of servers also those with this part of an IP address. Case, accents and apostrophes are ignored",
    examples: ["shop"],
  }),
  sort: z.enum(["created_at", "name"]).meta({ description: "The default is `created_at`", examples: ["created_at"] }),
};

/** IDs in a query, separated by commas; each counts once. */
function idList(kind: IdKind) {
  const { pattern, maxLength } = idForm(kind);
  const isId = new RegExp(pattern);
  return z
    .string()
    .refine(
      (value) => value.split(",").length <= PER_PAGE_MAX && value.split(",").every((each) => isId.test(each)),
      `must be IDs of ${kind === "ssh_key" ? "SSH keys" : kind === "delivery" ? "deliveries" : `${kind.replace("_", " ")}s`}, separated by commas, at most ${PER_PAGE_MAX}`,
    )
    .transform((value) => [...new Set(value.split(","))])
    .pipe(z.array(z.string().meta({ pattern, maxLength })).max(PER_PAGE_MAX))
    .meta({
      description: "Only these records; unknown IDs are left out. Cannot be combined with other parameters",
      examples: [[exampleId(kind)]],
    });
}

/** Whose events, or operations, a list is of. */
export const actorId = z
  .string()
  .regex(/^[a-z]{1,20}(_[0-9a-z]{26})?$/, "must be the ID of an actor")
  .meta({ examples: [exampleId("token")], maxLength: 47 });

/** Query of a list: `page` or `cursor`, `per_page`, the order, and filters, which all must hold. */
export const listQuery = <F extends Record<string, z.ZodType>>(filters: F) =>
  z
    .strictObject({
      page: queryInteger(1, PAGE_MAX)
        .optional()
        .meta({ description: "Page number, starting at 1 (the default)", examples: [1] }),
      per_page: queryInteger(1, PER_PAGE_MAX)
        .default(PER_PAGE)
        .meta({ description: `Records per page, at most ${PER_PAGE_MAX}`, examples: [20] }),
      cursor: z.string().min(1, "must not be empty").max(512, "must have at most 512 characters").optional().meta({
        description: "`meta.next_cursor` of the previous page; cannot be combined with `page`",
        pattern: "^[A-Za-z0-9_-]+$",
      }),
      ...ranges,
      ...optional(filters),
    })
    .check((context) => {
      const query: Record<string, unknown> = context.value;
      if (query["page"] !== undefined && query["cursor"] !== undefined)
        context.issues.push({
          code: "custom",
          path: ["cursor"],
          message: "cannot be combined with page",
          input: query["cursor"],
        });
      const { ids, per_page, ...otherParameters } = query;
      if (ids !== undefined && (per_page !== PER_PAGE || Object.values(otherParameters).some((value) => value !== undefined)))
        context.issues.push({ code: "custom", path: ["ids"], message: "cannot be combined with other parameters", input: ids });
    });

/** What the declarations of all lists have in common. */
export const listOf = <T extends z.ZodType, F extends Record<string, z.ZodType>>(record: T, filters: F) =>
  ({ method: "GET", query: listQuery(filters), list: true, data: z.array(record) }) as const;

/** The same for lists of resources, which can be read by their IDs. */
export const resourceListOf = <T extends z.ZodType, F extends Record<string, z.ZodType>>(kind: IdKind, record: T, filters: F) =>
  listOf(record, { ids: idList(kind), ...filters });

/** The same for lists that can be searched, and filtered by label. */
export const searchableListOf = <T extends z.ZodType, F extends Record<string, z.ZodType>>(kind: IdKind, record: T, filters: F) =>
  resourceListOf(kind, record, { ...filters, ...finding });

type Optional<F extends Record<string, z.ZodType>> = { [K in keyof F]: z.ZodOptional<F[K]> };
const optional = <F extends Record<string, z.ZodType>>(filters: F) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose which name has which type
  Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, schema.optional()])) as Optional<F>;

/** Seconds a request may wait for an operation to finish: below the gateway's limit of 29. */
export const waitSeconds = queryInteger(0, 20)
  .default(0)
  .meta({ description: "Seconds to wait for the operation to finish", examples: [10] });

/** Seconds a request may wait for more of a log. */
export const followSeconds = queryInteger(0, 20)
  .default(0)
  .meta({ description: "Seconds to wait for more, if there is nothing new", examples: [20] });

/** A whole number in a response. */
export const integer = (example: number, description?: string) =>
  z
    .number()
    .int()
    .meta({ ...(description !== undefined && { description }), examples: [example] });

export const ListMeta = z
  .object({
    page: integer(1),
    per_page: integer(20),
    total: integer(1, "Number of records that match the filters"),
    total_capped: z
      .literal(true)
      .optional()
      .meta({
        description: `\`total\` is ${LISTED_MAX}, and more records match; only with label, search, sort by name, or several filters`,
      }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Pass as `cursor` to get the next page; null on the last page", examples: [null] }),
  })
  .meta({ id: "ListMeta" });
export type ListMeta = z.infer<typeof ListMeta>;

/** Response data of a deletion that takes effect immediately. */
export const deleted = (kind: IdKind) => z.object({ id: id(kind), deleted: z.literal(true).meta({ examples: [true] }) });

/** A body in which every field is optional but one must be given. */
export const atLeastOne = <S extends z.ZodRawShape>(shape: S) =>
  z
    .strictObject(shape)
    .check((context) => {
      const [first] = Object.keys(shape);
      if (first !== undefined && Object.values(context.value).every((value) => value === undefined))
        context.issues.push({
          code: "custom",
          path: [first],
          message: `at least one of these fields is required: ${Object.keys(shape).join(", ")}`,
          input: context.value,
        });
    })
    .meta({ minProperties: 1 });
