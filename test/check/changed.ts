// The files that have changed: since the last commit, or since a branch left another.
import { execFileSync } from "node:child_process";
import { ROOT } from "../harness/rounds.ts";

const git = (...args: string[]): string => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
const lines = (text: string): string[] => text.split("\0").filter((line) => line !== "");

/** Committed since then or not, and new ones that git does not know yet. Removed ones, too: somebody may miss them. */
export function changedFiles(since: string): string[] {
  const from = git("merge-base", since, "HEAD").trim();
  const tracked = lines(git("diff", "--name-only", "--no-renames", "-z", from));
  const untracked = lines(git("ls-files", "--others", "--exclude-standard", "-z"));
  return [...new Set([...tracked, ...untracked])].toSorted();
}
