// Names that nothing else has.
let numbers = 0;
/** A word that no other test of this run uses. */
export const unique = (word: string): string => `${word}-${process.pid.toString(36)}-${(numbers++).toString(36)}`;
export const uniqueDomain = (word = "shop"): string => `${unique(word)}.example.com`;
export const uniqueDatabase = (word = "shop"): string => unique(word).replaceAll("-", "_");
