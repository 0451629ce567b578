// Texts in records of a limited size: what counts is their length in JSON, where a quote or a line break takes two bytes.

const encoder = new TextEncoder();
const bytesOf = (character: string): number => encoder.encode(JSON.stringify(character)).length - 2;

/** How many of the characters have room. */
function countFitting(characters: readonly string[], bytesMax: number): number {
  let room = bytesMax;
  const end = characters.findIndex((character) => (room -= bytesOf(character)) < 0);
  return end < 0 ? characters.length : end;
}

/** As much of a text's beginning as has room. */
export function startInJson(text: string, bytesMax: number): string {
  const characters = Array.from(text);
  return characters.slice(0, countFitting(characters, bytesMax)).join("");
}

/** As much of a text's end as has room. */
export function endInJson(text: string, bytesMax: number): string {
  const characters = Array.from(text);
  return characters.slice(characters.length - countFitting(characters.toReversed(), bytesMax)).join("");
}
