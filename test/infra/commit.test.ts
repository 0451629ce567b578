// Which commit a build names: that of its own repository, that of the tarball which was made of one, and never another project's.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "./stubs.ts";

const FILES = [".gitattributes", "infra/commit.ts", "infra/built.ts", "shared/domain/durations.ts", "package.json"];

function copyTo(folder: string): void {
  for (const file of FILES) cpSync(file, join(folder, file));
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args], { cwd, encoding: "utf8" }).trim();

/** What the copy in a folder says. */
function commitIn(folder: string): unknown {
  const script = `import { readCommit } from "${join(folder, "infra", "commit.ts")}"; console.log(JSON.stringify(readCommit()));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder, encoding: "utf8" }));
}

function repository(): { folder: string; head: string } {
  const folder = scratch();
  copyTo(folder);
  git(folder, "init", "--quiet");
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--no-gpg-sign", "--message", "All");
  return { folder, head: git(folder, "rev-parse", "HEAD") };
}

test("a build in a repository names its commit", () => {
  const { folder, head } = repository();
  expect(head).toMatch(/^[0-9a-f]{40}$/);
  expect(commitIn(folder)).toBe(head);
});

test("a build of an unpacked tarball of a commit names that commit, wherever it was unpacked", () => {
  const { folder, head } = repository();
  const outer = repository();
  const unpacked = join(outer.folder, "vendor");
  mkdirSync(unpacked);
  const tar = join(scratch(), "copy.tar");
  git(folder, "archive", "--output", tar, "HEAD");
  execFileSync("tar", ["-xf", tar, "-C", unpacked]);
  expect(commitIn(unpacked)).toBe(head);
});

test("copied files name none, not even inside of another project's repository", () => {
  const outside = scratch();
  copyTo(outside);
  expect(commitIn(outside)).toBeNull();
  const inside = join(repository().folder, "vendor");
  copyTo(inside);
  expect(commitIn(inside)).toBeNull();
});

test("a damaged repository names none", () => {
  const { folder } = repository();
  writeFileSync(join(folder, ".git", "HEAD"), "nothing");
  expect(commitIn(folder)).toBeNull();
});

test("the file in which Git writes the commit is the one that is read", () => {
  expect(execFileSync("git", ["check-attr", "export-subst", "infra/commit.ts"], { cwd: resolve("."), encoding: "utf8" })).toMatch(
    /: set$/m,
  );
});
