// A random order, for work that takes longer than a run: what fails, or must wait, is not always in front of the rest.

export const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
