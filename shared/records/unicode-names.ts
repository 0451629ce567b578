// Names that are stored in ASCII as people read them. Apart from domain/international.ts, because browsers cannot decode them.
import { domainToUnicode } from "node:url";

/** What is no ASCII form of anything stays as it is. */
export const unicodeDomain = (name: string): string => domainToUnicode(name) || name;

export function unicodeEmail(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  return address.slice(0, at) + unicodeDomain(address.slice(at));
}
