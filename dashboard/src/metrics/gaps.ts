// Splits a line where it has to end because nothing was measured: a chart joins all points of a series, so each part is a series.

interface Point {
  x: Date;
  y: number;
}

/** Some figures are measured every ten minutes only, however short the steps are. */
const TEN_MINUTES = 600;

/** The points, in parts between which at least one was not measured. One empty part if there are none. */
export function splitAtGaps(points: readonly Point[], step: number): Point[][] {
  const longestMs = 1.5 * Math.max(step, TEN_MINUTES) * 1000;
  const parts: Point[][] = [[]];
  for (const point of points) {
    const before = parts.at(-1)?.at(-1);
    if (before !== undefined && point.x.getTime() - before.x.getTime() > longestMs) parts.push([]);
    parts.at(-1)?.push(point);
  }
  return parts;
}
