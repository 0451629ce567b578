// Which modules a deploy updates and installs: those that were asked for, of those that the database has.

/** A module in an instance's code. */
interface CodeModule {
  name: string;
  version: string;
  /** Whether its files differ from those that the database was last updated with. */
  changed: boolean;
}

/** What a deploy updates: modules with other files, all modules of the code, or these. */
export type Selection = "changed" | "all" | readonly string[];

export interface ModulePlan {
  updated: string[];
  installed: string[];
  changed_but_not_installed: string[];
}

/** How many modules a message names, in how many characters. A deploy, which has 64 KB, has the error of its rehearsal, too. */
const NAMED_MAX = 20;
const CHARACTERS_MAX = 2000;

/** What is named of the modules that a deploy updates and installs. */
export const firstNamed = (updated: readonly string[], installed: readonly string[]): string[] =>
  [...updated, ...installed].slice(0, NAMED_MAX);

/** Modules with the repositories that they are from, such as "acme, prices (https://git.example/acme); base". */
export function nameWithSources(names: readonly string[], sources: Readonly<Record<string, string>>): string {
  const of = Map.groupBy(names.slice(0, NAMED_MAX), (name) => (Object.hasOwn(sources, name) ? sources[name] : undefined));
  const parts = [...of].map(([url, those]) => (url === undefined ? those.join(", ") : `${those.join(", ")} (${url})`));
  let room = CHARACTERS_MAX;
  return parts.filter((part) => (room -= part.length + 2) >= 0).join("; ");
}

/** All other modules depend on it: the ERP updates them with it. */
export const BASE = "base";

/**
 * `installed` are those of the database, as far as they are in the code or were named. Dependants of a module are updated by the
 * ERP itself. `image_changed`: whether the database was last updated with another image than the ERP has.
 */
export function planModules(
  { modules, installed, image_changed }: { modules: readonly CodeModule[]; installed: readonly string[]; image_changed: boolean },
  { select, install }: { select: Selection; install: readonly string[] },
): ModulePlan {
  const has = new Set(installed);
  const missing = install.filter((name) => !has.has(name));
  const isSelected = ({ name, changed }: CodeModule): boolean =>
    select === "all" || (select === "changed" ? changed : select.includes(name));
  const chosenNames = typeof select === "string" ? [] : select;
  const selected = new Set([...modules.filter(isSelected).map(({ name }) => name), ...chosenNames]);
  return {
    updated: [
      ...(image_changed && typeof select === "string" ? [BASE] : []),
      ...[...selected].filter((name) => has.has(name)).toSorted(),
    ],
    installed: missing.toSorted(),
    changed_but_not_installed: modules
      .filter(({ name, changed }) => changed && !has.has(name) && !missing.includes(name))
      .map(({ name }) => name)
      .toSorted(),
  };
}
