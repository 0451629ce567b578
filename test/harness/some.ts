// How much of what is generated from tables is run: a part by `npm test`, all by `npm run prove`.

export const ALL = process.env["PROVE"] === "all";

/** All cases, or one of every `of`, beginning with the one at `turn`: who counts `turn` up has every case met by some row. */
export const some = <T>(cases: readonly T[], of: number, turn = 0): T[] =>
  ALL ? [...cases] : cases.filter((_, index) => (index + turn) % of === 0);
