// What is never kept of a form: passwords, confirmations, tokens and secrets, by the names of their fields.
const SECRET = /password|confirmation|secret|^token$/;

export const withoutSecrets = (typed: object): object =>
  Object.fromEntries(Object.entries(typed).flatMap(([name, value]) => (SECRET.test(name) ? [] : [[name, emptied(value)]])));

/** Entries of lists keep their fields, emptied: each is replaced as a whole. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, SECRET.test(name) ? "" : emptied(each)]));
}
