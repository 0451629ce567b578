// Repositories may only be on public hosts. The machine that reads one looks the name up, and its firewall holds what the name
// leads to against the same rules.
import { invalid, type Problem, tooManyRepositories } from "../../api/errors.ts";
import { findUrlProblem } from "../../platform/outbound.ts";
import type { AccountRecord } from "../../records/schemas/account.ts";
import type { CodeRecord } from "../../records/schemas/code.ts";

const SSH = "ssh://git@";
const SSH_PORTS: readonly string[] = ["", "22"];

/** What forbids a repository's URL by itself. */
function findProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return "must be https://HOST/PATH or ssh://git@HOST/PATH";
  if (!url.startsWith(SSH)) return findUrlProblem(url, { loopback: false });
  const { hostname, port, pathname } = new URL(url);
  return SSH_PORTS.includes(port) ? findUrlProblem(`https://${hostname}${pathname}`, { loopback: false }) : "must use port 22";
}

/** Rejects repositories on hosts that are not public. */
export function requireReachable(repositories: readonly { url: string }[]): void {
  const [first, ...others] = repositories.flatMap(({ url }, index): Problem[] => {
    const reason = findProblem(url);
    return reason === undefined ? [] : [{ field: `repositories.${index}.url`, reason }];
  });
  if (first !== undefined) throw invalid(first, ...others);
}

/** Rejects more repositories than the account's quota allows an instance; what it has beyond a lowered quota stays. */
export function requireRoomForRepositories(
  { limit_repositories: limit }: AccountRecord,
  before: CodeRecord,
  repositories: readonly unknown[],
): void {
  if (repositories.length > Math.max(limit, before.repositories.length)) throw tooManyRepositories(limit);
}
