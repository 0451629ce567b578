// What a change of labels makes of those that a resource has.

type Labels = Readonly<Record<string, string>>;

/** The whole map, or what is added and removed. */
export interface LabelsChange {
  labels?: Labels | undefined;
  add?: Labels | undefined;
  remove?: readonly string[] | undefined;
}

export const changedLabels = (current: Labels, { labels, add = {}, remove = [] }: LabelsChange): Record<string, string> =>
  labels === undefined
    ? Object.fromEntries([...Object.entries(current).filter(([key]) => !remove.includes(key)), ...Object.entries(add)])
    : { ...labels };
