// What ids look like: the prefix of each kind, and the form that all share.

/** Prefix of each kind of id (TypeID: prefix, underscore, 26 characters of base32, sortable by creation time). */
export const ID_PREFIXES = {
  account: "acc",
  user: "usr",
  token: "tok",
  ssh_key: "key",
  server: "srv",
  instance: "ins",
  backup: "bak",
  upload: "upl",
  deploy: "dep",
  operation: "op",
  event: "evt",
  session: "ses",
  invitation: "inv",
  webhook: "whk",
  delivery: "dlv",
  mail: "mail",
  alert: "alr",
  second_factor: "fac",
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford base32 in lower case; 26 characters hold 130 bits, so the first is at most 7. */
const ID_SUFFIX = "[0-7][0-9a-hjkmnp-tv-z]{25}";
const EXAMPLE_SUFFIX = "01kag8w1s2e7tv8q4m5n6p7r8s";

/** The format of an ID, in terms of JSON Schema. */
export const idForm = (kind: IdKind) => ({
  pattern: `^${ID_PREFIXES[kind]}_${ID_SUFFIX}$`,
  maxLength: exampleId(kind).length,
});

/** The id that examples show for a kind of resource. */
export const exampleId = (kind: IdKind): string => `${ID_PREFIXES[kind]}_${EXAMPLE_SUFFIX}`;
