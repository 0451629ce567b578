// How many of the generated tests run: some with `npm test`, all with `npm run test:tables`.

export const ALL = process.env["PROVE"] === "all";

/** All cases, or one of every `of`, starting with the one at `turn`. Count `turn` up, and every case appears in some row. */
export const some = <T>(cases: readonly T[], of: number, turn = 0): T[] =>
  ALL ? [...cases] : cases.filter((_, index) => (index + turn) % of === 0);
