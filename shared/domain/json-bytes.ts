// The sizes of texts and values that are limited. What counts in a record is the length in JSON, where a quote or a line break
// takes two bytes.

const encoder = new TextEncoder();

export const utf8Bytes = (text: string): number => encoder.encode(text).length;

/** The bytes of a value as JSON. */
export const jsonBytes = (value: unknown): number => utf8Bytes(JSON.stringify(value));

/** The first of the values, as many as have room in an array of JSON. */
export function takeFitting<T>(values: readonly T[], bytesMax: number): T[] {
  let room = bytesMax;
  return values.filter((value) => (room -= jsonBytes(value) + 1) >= 0);
}

const bytesOf = (character: string): number => jsonBytes(character) - 2;

/** How many of the characters have room. */
function countFitting(characters: readonly string[], bytesMax: number): number {
  let room = bytesMax;
  const end = characters.findIndex((character) => (room -= bytesOf(character)) < 0);
  return end < 0 ? characters.length : end;
}

/** Returns as much of a text's beginning as fits. */
export function startInJson(text: string, bytesMax: number): string {
  const characters = Array.from(text);
  return characters.slice(0, countFitting(characters, bytesMax)).join("");
}

/** Returns as much of a text's end as fits. */
export function endInJson(text: string, bytesMax: number): string {
  const characters = Array.from(text);
  return characters.slice(characters.length - countFitting(characters.toReversed(), bytesMax)).join("");
}
