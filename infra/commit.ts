// The commit that is built: of the repository, or of the tarball that was made of one; null where nothing says it.
import { execFileSync } from "node:child_process";
import { ROOT } from "./built.ts";

/** `git archive`, by which GitHub also makes its tarballs, writes the commit here (.gitattributes). */
const ARCHIVED = "$Format:%H$";

const COMMIT = /^[0-9a-f]{40,64}$/;

export function readCommit(folder = ROOT): string | null {
  if (COMMIT.test(ARCHIVED)) return ARCHIVED;
  try {
    const options = { cwd: folder, encoding: "utf8", stdio: "pipe" } as const;
    // The way up to the repository's top comes first: a copy without one may be inside of another project's.
    const [up, commit = ""] = execFileSync("git", ["rev-parse", "--show-cdup", "HEAD"], options).split("\n");
    return up === "" && COMMIT.test(commit) ? commit : null;
  } catch {
    return null; // no git, or no repository
  }
}
