// Chance that can be repeated: the same seed gives the same choices.

export interface Random {
  /** Returns a number that is at least 0 and less than 1. */
  next: () => number;
  /** Returns a whole number from 0 to below `end`. */
  below: (end: number) => number;
  chance: (probability: number) => boolean;
  oneOf: <T>(choices: readonly T[]) => T;
  shuffled: <T>(items: readonly T[]) => T[];
}

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    oneOf: (choices) => {
      const [choice] = choices.slice(below(choices.length));
      if (choice === undefined) throw new Error("There is nothing to choose from");
      return choice;
    },
    shuffled: (items) => {
      const rest = [...items];
      return items.flatMap(() => rest.splice(below(rest.length), 1));
    },
  };
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns the text with another character at one position: often the last, whose bits do not all mean something. */
export function changed(text: string, random: Random, alphabet = BASE64URL): string {
  const at = random.chance(0.25) ? text.length - 1 : random.below(text.length);
  const other = alphabet.split("").filter((each) => each !== text.charAt(at));
  return text.slice(0, at) + random.oneOf(other) + text.slice(at + 1);
}
