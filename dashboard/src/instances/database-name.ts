// The name of a database, suggested from the instance's: what PostgreSQL takes without quoting.
const LENGTH_MAX = 63;

export const suggestDatabaseName = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+/, "")
    .slice(0, LENGTH_MAX)
    .replace(/_+$/, "");
