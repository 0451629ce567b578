// Commits and modules as people read them.
import type { Deploy } from "../../../shared/api/deploys.ts";
import { spanInWords } from "../app/words.ts";
import { text } from "../messages/text.ts";

const SHORT = 10;
export const shortCommit = (commit: string): string => commit.slice(0, SHORT);

/** The last part of a repository's URL. */
export const nameOfRepository = (url: string): string =>
  url
    .replace(/(?:\.git)?\/*$/, "")
    .split("/")
    .at(-1) ?? url;

/** A newer service may know more. */
export function triggerInWords(trigger: string): string {
  const words: Readonly<Record<string, string>> = text.code.deploys.triggers;
  return words[trigger] ?? trigger;
}

export const commitsInWords = ({ commits }: Pick<Deploy, "commits">): string =>
  commits.map(({ url, commit }) => `${nameOfRepository(url)} ${shortCommit(commit)}`).join(", ");

/** Those that were updated or installed. */
export const modulesInWords = ({ modules }: Pick<Deploy, "modules">): string =>
  modules === null ? "" : [...modules.updated, ...modules.installed].join(", ");

export const downtimeInWords = ({ downtime_seconds }: Pick<Deploy, "downtime_seconds">): string =>
  downtime_seconds === null ? "–" : spanInWords(downtime_seconds);
