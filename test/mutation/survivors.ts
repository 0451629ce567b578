// The changes of `npm run mutate` that no test can notice, or needs to, and why. A survivor that is not in this list is a missing test.

export interface Explanation {
  file: string;
  /** The code that was changed, and what it became, on one line each. */
  code: string;
  becomes: string;
  why: string;
}

const SLOTS = "shared/data/slots.ts";
const LOST_PLACE = "A lost place is taken in the item that the failed write returns, so that the search ends without the bound.";
const MEMORY = "Which of a thousand items are remembered: one that is forgotten costs a second call now and then.";
const HINT = "What is remembered of an item without a free slot is replaced by what its write returns.";

export const survivors: readonly Explanation[] = [
  { file: SLOTS, code: "tries++", becomes: "tries--", why: LOST_PLACE },
  { file: SLOTS, code: "tries < wish.places.length", becomes: "true", why: LOST_PLACE },
  { file: SLOTS, code: "tries < wish.places.length", becomes: "tries <= wish.places.length", why: LOST_PLACE },
  {
    file: SLOTS,
    code: "shown !== undefined && tries < wish.places.length",
    becomes: "shown !== undefined || tries < wish.places.length",
    why: LOST_PLACE,
  },
  {
    file: SLOTS,
    code: "shown !== undefined",
    becomes: "true",
    why: "Only a credential that is deleted between two calls has no item any more: its request fails in either case.",
  },
  {
    file: SLOTS,
    code: "place !== undefined",
    becomes: "true",
    why: "Remembers a place that has no name, or gives DynamoDB a name without a value, which the SDK leaves out.",
  },
  { file: SLOTS, code: "wish !== undefined", becomes: "true", why: "There is a place only if there is a wish." },
  { file: SLOTS, code: "[]", becomes: '["Stryker was here"]', why: "Remembers a place that nobody asks for." },
  { file: SLOTS, code: "hints.delete(place);", becomes: ";", why: MEMORY },
  { file: SLOTS, code: "hints.delete(oldest);", becomes: ";", why: MEMORY },
  { file: SLOTS, code: "hints.size > HINTS_MAX && oldest !== undefined", becomes: "false", why: MEMORY },
  { file: SLOTS, code: "hints.size > HINTS_MAX", becomes: "hints.size >= HINTS_MAX", why: MEMORY },
  { file: SLOTS, code: "oldest !== undefined", becomes: "true", why: MEMORY },
  { file: SLOTS, code: "oldest !== undefined", becomes: "oldest === undefined", why: MEMORY },
  {
    file: SLOTS,
    code: "times.length === 0",
    becomes: "false",
    why: "An item without slots cannot be entered: DynamoDB rejects the write, whatever the slot.",
  },
  { file: SLOTS, code: "(times[oldest] ?? now) <= now - windowMs", becomes: "true", why: HINT },
  { file: SLOTS, code: "now - windowMs", becomes: "now + windowMs", why: HINT },
];
