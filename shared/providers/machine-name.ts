// A machine's name at its provider: unique, because the machines of all accounts share the
// operator's project there, and in which the server and the operation can be read.
import { ID_PREFIXES } from "../domain/id-kinds.ts";

interface Named {
  name: string;
  server_id: string;
  operation_id: string;
}

/** What follows the prefix of an id. */
const ID_LENGTH = 26;
/** A host name has 63 characters; two ids and two hyphens are 54. */
const READABLE_LENGTH = 9;

export const machineName = ({ name, server_id, operation_id }: Named): string =>
  [name.slice(0, READABLE_LENGTH).replace(/-+$/, ""), server_id.slice(-ID_LENGTH), operation_id.slice(-ID_LENGTH)].join("-");

/** Undefined if it is no name of ours. */
export function idsIn(machineName: string): Omit<Named, "name"> | undefined {
  const [, server, operation] = /-([0-9a-z]{26})-([0-9a-z]{26})$/.exec(machineName) ?? [];
  if (server === undefined || operation === undefined) return undefined;
  return { server_id: `${ID_PREFIXES.server}_${server}`, operation_id: `${ID_PREFIXES.operation}_${operation}` };
}
