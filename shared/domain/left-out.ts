// What a dump has of the server that it comes from, by kind: it is counted and named, and never loaded. See
// hosts/server-statements.ts.
export const LEFT_OUT_KINDS = [
  "privileges",
  "owners",
  "roles",
  "tablespaces",
  "databases",
  "security_labels",
  "extensions",
  "extension_data",
  "event_triggers",
  "publications",
  "subscriptions",
  "foreign_data",
  "access_methods",
  "languages",
  "functions",
  "policies",
  "statistics",
  "settings",
  "drops",
] as const;
export type LeftOutKind = (typeof LEFT_OUT_KINDS)[number];
export const isLeftOutKind = (kind: string): kind is LeftOutKind => LEFT_OUT_KINDS.some((each) => each === kind);
