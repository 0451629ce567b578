// The changes of `npm run mutate` that no test can notice, or needs to, and why. A survivor that is not in this list is a missing
// test.

export interface Explanation {
  file: string;
  /** The code that was changed, and what it became, on one line each. */
  code: string;
  becomes: string;
  reason: string;
}

const SLOTS = "shared/data/slots.ts";
const NEEDS_OPTIONAL = "A slot is acquired only if optional slots are requested.";
const LOST_SLOT =
  "A slot that is lost is taken in the item that the failed write returns, so that the search ends without the bound.";
const MEMORY = "Which of a thousand items are remembered: one that is forgotten costs a second call now and then.";
const ADMISSION = "shared/operations/credentials/admission.ts";
const JWT = "shared/runtime/jwt.ts";
const JOSE = "The library rejects such a text as well.";
const LIFECYCLE = "shared/domain/lifecycle.ts";
const TYPES = "This tells the compiler what the table says: nothing else can be there.";
const PAGES = "shared/data/pages.ts";
const HINT = "What is remembered of an item without a free slot is replaced by what its write returns.";
const LISTS = "shared/data/lists.ts";
const OMITTED = "The SDK leaves out what is undefined.";
const EQUAL = "The two are the same then.";
const NO_BLOCKS = "No blocks have no records: the count finds that as well.";
const UNMARKED = "A comparison with undefined is false: a block without a mark is never the one that is found.";

export const survivors: readonly Explanation[] = [
  { file: SLOTS, code: "tries++", becomes: "tries--", reason: LOST_SLOT },
  { file: SLOTS, code: "tries < optionalSlot.slots.length", becomes: "true", reason: LOST_SLOT },
  { file: SLOTS, code: "tries < optionalSlot.slots.length", becomes: "tries <= optionalSlot.slots.length", reason: LOST_SLOT },
  {
    file: SLOTS,
    code: "current !== undefined && tries < optionalSlot.slots.length",
    becomes: "current !== undefined || tries < optionalSlot.slots.length",
    reason: LOST_SLOT,
  },
  {
    file: SLOTS,
    code: "current !== undefined",
    becomes: "true",
    reason: "Only a credential that is deleted between two calls has no item any more: its request fails in either case.",
  },
  {
    file: SLOTS,
    code: "slot !== undefined",
    becomes: "true",
    reason: "Remembers a slot that has no name, or gives DynamoDB a name without a value, which the SDK leaves out.",
  },
  { file: SLOTS, code: "optionalSlot !== undefined", becomes: "true", reason: NEEDS_OPTIONAL },
  { file: SLOTS, code: "[]", becomes: '["Stryker was here"]', reason: "Remembers a slot that nobody requests." },
  { file: SLOTS, code: "hints.delete(key);", becomes: ";", reason: MEMORY },
  { file: SLOTS, code: "hints.delete(oldest);", becomes: ";", reason: MEMORY },
  { file: SLOTS, code: "hints.size > HINTS_MAX && oldest !== undefined", becomes: "false", reason: MEMORY },
  { file: SLOTS, code: "hints.size > HINTS_MAX", becomes: "hints.size >= HINTS_MAX", reason: MEMORY },
  { file: SLOTS, code: "oldest !== undefined", becomes: "true", reason: MEMORY },
  { file: SLOTS, code: "oldest !== undefined", becomes: "oldest === undefined", reason: MEMORY },
  {
    file: SLOTS,
    code: "times.length === 0",
    becomes: "false",
    reason: "An item without slots cannot be entered: DynamoDB rejects the write, whatever the slot.",
  },
  { file: SLOTS, code: "(times[oldest] ?? now) <= now - windowMs", becomes: "true", reason: HINT },
  { file: SLOTS, code: "now - windowMs", becomes: "now + windowMs", reason: HINT },
  {
    file: LIFECYCLE,
    code: "default: throw new Error(`No such kind of resource: ${String(row.resource satisfies never)}`);",
    becomes: "default:",
    reason: TYPES,
  },
  {
    file: LIFECYCLE,
    code: "throw new Error(`No such kind of resource: ${String(row.resource satisfies never)}`);",
    becomes: ";",
    reason: TYPES,
  },
  { file: LIFECYCLE, code: "each === state", becomes: "true", reason: TYPES },
  { file: LIFECYCLE, code: "each === state", becomes: "each !== state", reason: TYPES },
  { file: LIFECYCLE, code: "row.from.filter((state) => isInstanceStatus(state))", becomes: "row.from", reason: TYPES },
  {
    file: LIFECYCLE,
    code: "Object.keys(LIFECYCLE).filter(isOperationType)",
    becomes: "Object.keys(LIFECYCLE)",
    reason: TYPES,
  },
  {
    file: LIFECYCLE,
    code: "server !== undefined",
    becomes: "true",
    reason: "An undefined phase is none of those that are usable.",
  },
  {
    file: ADMISSION,
    code: 'verdict.kind === "limited"',
    becomes: "true",
    reason: "A verdict that admits names no limit and no time to wait.",
  },
  { file: ADMISSION, code: 'verdict.kind === "admitted"', becomes: "true", reason: "A verdict that limits has no slot." },
  { file: ADMISSION, code: "optionalSlot !== undefined", becomes: "true", reason: NEEDS_OPTIONAL },
  {
    file: ADMISSION,
    code: "state === undefined",
    becomes: "false",
    reason: "Every request has a limit: this tells the compiler.",
  },
  {
    file: ADMISSION,
    code: 'throw new Error("Every request has a limit");',
    becomes: ";",
    reason: "Every request has a limit: this tells the compiler.",
  },
  {
    file: ADMISSION,
    code: "counted.length === 0",
    becomes: "false",
    reason: "The limit that is shown has counted a request: at least this one, if nothing else makes its share smaller.",
  },
  {
    file: JWT,
    code: "!claims.success",
    becomes: "false",
    reason: "Reading claims that are not there throws a TypeError, which means the same.",
  },
  { file: JWT, code: "parts.length === 3", becomes: "true", reason: JOSE },
  {
    file: PAGES,
    code: "a.sortKey < b.sortKey",
    becomes: "a.sortKey <= b.sortKey",
    reason: "No two records have the same sort key.",
  },
  {
    file: PAGES,
    code: "last !== undefined",
    becomes: "true",
    reason: "There are more records than the page shows only if it shows one.",
  },
  {
    file: PAGES,
    code: 'createHash("sha256").update(name).digest("base64url").slice(0, 16)',
    becomes: 'createHash("sha256").update(name).digest("base64url")',
    reason: "Cursors become longer.",
  },
  {
    file: LISTS,
    code: 'page.order === "asc"',
    becomes: 'page.order !== "asc"',
    reason: "The names of the two orders are swapped: each still rejects the other's cursors.",
  },
  { file: LISTS, code: "limit !== undefined", becomes: "true", reason: OMITTED },
  { file: LISTS, code: "more !== undefined", becomes: "true", reason: OMITTED },
  {
    file: LISTS,
    code: "cursor === undefined",
    becomes: "true",
    reason: "A query with a cursor has no page, so that nothing is skipped. One with both is rejected before.",
  },
  { file: LISTS, code: "start.edge > low", becomes: "start.edge >= low", reason: EQUAL },
  { file: LISTS, code: "start.edge < high", becomes: "start.edge <= high", reason: EQUAL },
  {
    file: LISTS,
    code: "above > below",
    becomes: "above >= below",
    reason: "They are equal only if no block is between: nothing is found in either case.",
  },
  { file: LISTS, code: "from >= to", becomes: "false", reason: NO_BLOCKS },
  { file: LISTS, code: "from >= to", becomes: "from > to", reason: NO_BLOCKS },
  {
    file: LISTS,
    code: "last.from < first.to",
    becomes: "last.from <= first.to",
    reason: "Where one end begins with the block at which the other stops, one call reads what two would.",
  },
  { file: LISTS, code: "mark === undefined", becomes: "false", reason: UNMARKED },
  { file: LISTS, code: "[]", becomes: '["Stryker was here"]', reason: UNMARKED },
  {
    file: LISTS,
    code: "block >= from",
    becomes: "true",
    reason: "Marks rise with their blocks, but for less than the margin: no older block has one after the time.",
  },
  { file: LISTS, code: "true", becomes: "false", reason: "What is read is sorted afterwards." },
  {
    file: "functions/workflows/restore-backup/tasks.ts",
    code: 'progress === "down"',
    becomes: "false",
    reason: "A text has no `ready`, and an undo that returns undefined has ended as well.",
  },
];
