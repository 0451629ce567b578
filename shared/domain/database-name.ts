// The name of a database, derived from its instance's: one that PostgreSQL accepts without quoting.
const LENGTH_MAX = 63;

/** Empty if nothing of the name can be used. */
export const databaseNameFrom = (name: string, lengthMax = LENGTH_MAX): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+/, "")
    .slice(0, lengthMax)
    .replace(/_+$/, "");

/** Made unique on its server by the end of an ID. */
export function uniqueDatabaseName(name: string, id: string): string {
  const end = `_${id.slice(-8)}`;
  return `${databaseNameFrom(name, LENGTH_MAX - end.length) || "erp"}${end}`;
}
