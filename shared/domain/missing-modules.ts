// Which installed modules the image of an ERP lacks: it has no such module, or only an older version than the database was last
// updated with.

/** An installed module that the image does not have in the same version. */
export interface DifferingModule {
  name: string;
  version: string | null;
  /** Null if the image has none of this name. */
  image_version: string | null;
}

/** How many modules a list names at most. */
export const MISSING_MODULES_MAX = 50;

export const missingModules = (differing: readonly DifferingModule[]): string[] =>
  differing
    .filter(({ version, image_version }) => image_version === null || isNewer(version ?? "", image_version))
    .map(({ name }) => name)
    .slice(0, MISSING_MODULES_MAX);

/** Whether a version is newer, by its numbers, as the ERP compares versions; words in them do not matter. */
export function isNewer(version: string, than: string): boolean {
  const [numbers, otherNumbers] = [numbersIn(version), numbersIn(than)];
  const first = numbers.findIndex((number, index) => number !== (otherNumbers[index] ?? 0));
  return first !== -1 && (numbers[first] ?? 0) > (otherNumbers[first] ?? 0);
}

const numbersIn = (version: string): number[] => [...version.matchAll(/\d+/g)].map(([digits]) => Number(digits));
