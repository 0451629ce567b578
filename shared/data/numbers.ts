// The numbers of records, by which lists are sorted, and where they are counted.
import { BLOCK, BLOCKS_PER_LEAF, COUNT_ATTRIBUTES } from "./codes.ts";

export const formatNumber = (serial: number, id: string): string => `${String(serial).padStart(10, "0")}#${id}`;
const parseNumber = (number: string): number => Number(number.split("#", 1)[0]);

/** The block in which a number is counted. */
export const findBlock = (number: string): number => Math.floor(parseNumber(number) / BLOCK);

/** The item and attribute in which it is counted there. */
export function countPlace(number: string): { leaf: number; attribute: string } {
  const block = findBlock(number);
  return { leaf: Math.floor(block / BLOCKS_PER_LEAF), attribute: `${COUNT_ATTRIBUTES.count}${block % BLOCKS_PER_LEAF}` };
}

/**
 * Returns where the first record of a block notes when it was created; undefined for any other record. Blocks may lack this:
 * concurrent requests take the same number, so that some are never taken.
 */
export function markPlace(number: string): { leaf: number; attribute: string } | undefined {
  if (parseNumber(number) % BLOCK !== 0) return undefined;
  const { leaf, attribute } = countPlace(number);
  return { leaf, attribute: attribute.replace(COUNT_ATTRIBUTES.count, COUNT_ATTRIBUTES.mark) };
}
