// What the builder makes of repositories: the commits that it finds, and the modules that it writes, whatever else is there.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reasonIn } from "../../shared/domain/reasons.ts";
import { unless } from "../harness/unless.ts";
import { noGit } from "./git-servers.ts";
import {
  fetchCode,
  manifest,
  name,
  place,
  problemOf,
  renewPlace,
  resolveCode,
  servers,
  startRepositories,
  url,
} from "./repositories.ts";

describe("the builder", unless(noGit), () => {
  startRepositories();

  test("finds the commit of a branch, of a tag of either kind, and takes a commit as it is", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    servers.git(name(), "tag", "light", commit);
    servers.git(name(), "tag", "-a", "-m", "A tag", "heavy", commit);
    const refs = ["main", "light", "heavy", commit];
    expect((await resolveCode(refs.map((ref) => ({ url: url(), ref })))).commits).toEqual(
      refs.map(() => ({ commit, problem: null, host_key: null })),
    );
    const { commits } = await resolveCode([{ url: url(), ref: "other" }, { url: url("nothing") }]);
    expect(commits.map(({ problem }) => reasonIn(problem ?? "")?.code)).toEqual(["code_no_ref", "code_no_access"]);
  });

  test("writes the modules of exactly the commit, with their versions as the database has them", async () => {
    const first = servers.commit(
      name(),
      {
        "README.md": "text",
        "acme/__manifest__.py": manifest(),
        "acme/models/price.py": "raise SystemExit('never run')\n",
        "deep/er/other/__manifest__.py": manifest("19.0.2.1"),
        "off/__manifest__.py": "{'installable': False}",
      },
      { message: "Prices\n\nwith tax" },
    );
    servers.commit(name(), { "acme/__manifest__.py": manifest("2.0") });
    const { subjects, problems, modules, folders } = await fetchCode([{ url: url(), commit: first }]);
    expect({ subjects, problems, folders }).toEqual({ subjects: ["Prices"], problems: [], folders: [`1-${name()}`] });
    expect(modules.map(({ name: each, version }) => [each, version])).toEqual([
      ["acme", "19.0.1.0"],
      ["other", "19.0.2.1"],
    ]);
    expect(readFileSync(join(place, `1-${name()}/acme/models/price.py`), "utf8")).toMatch(/never run/);
    expect(readdirSync(place)).toEqual([`1-${name()}`]);
    expect(readdirSync(join(place, `1-${name()}`)).toSorted()).toEqual(["acme", "other"]);
  });

  test("gives a module another hash exactly if one of its files differs", async () => {
    const files = { "acme/__manifest__.py": manifest(), "other/__manifest__.py": manifest(), "other/a.py": "a" };
    const one = servers.commit(name(), files);
    const two = servers.commit(name(), { ...files, "other/a.py": "b", "README.md": "new" });
    const hashes = async (commit: string) => {
      renewPlace();
      const { modules } = await fetchCode([{ url: url(), commit }]);
      return Object.fromEntries(modules.map(({ name: each, hash }) => [each, hash]));
    };
    const [before, after] = [await hashes(one), await hashes(two)];
    expect(after["acme"]).toBe(before["acme"]);
    expect(after["other"]).not.toBe(before["other"]);
  });

  test("takes the first repository's module of a name, a folder, and a repository that is a module itself", async () => {
    const one = servers.commit(name(), { "__manifest__.py": manifest("3.0"), "models/a.py": "" });
    const other = servers.commit(`${name()}-b`, {
      "addons/acme/__manifest__.py": manifest("4.0"),
      "x/y/__manifest__.py": manifest(),
    });
    const acme = `acme`;
    servers.commit(acme, { "__manifest__.py": manifest("5.0") });
    const { modules, problems } = await fetchCode([
      { url: url(acme), commit: servers.git(acme, "rev-parse", "main") },
      { url: url(`${name()}-b`), commit: other, path: "addons" },
    ]);
    expect(problems).toEqual([]);
    expect(modules.map(({ name: each, version, repository }) => [each, version, repository])).toEqual([["acme", "19.0.5.0", 0]]);
    // A path may name a module itself.
    const itself = await fetchCode([{ url: url(`${name()}-b`), commit: other, path: "addons/acme" }]);
    expect(itself.modules.map(({ name: each, version }) => [each, version])).toEqual([["acme", "19.0.4.0"]]);
    // Its name is no module's.
    expect(await problemOf({ url: url(), commit: one })).toEqual({
      code: "CODE_INVALID",
      module: null,
      reason: "code_misnamed",
    });
  });

  test("fetches the ref where the host hands out no commits, and only if it still is the commit", async () => {
    const first = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    servers.git(name(), "config", "protocol.version", "0");
    const missingCommit = "0123456789012345678901234567890123456789";
    expect((await fetchCode([{ url: url(), commit: first }])).problems).toEqual([]);
    expect(await problemOf({ url: url(), commit: missingCommit })).toMatchObject({
      code: "CODE_UNREACHABLE",
      reason: "code_moved",
    });
    expect(await problemOf({ url: url(), commit: missingCommit, ref: missingCommit })).toMatchObject({ reason: "code_no_ref" });
  });

  test("finds the modules below a manifest at the top of a repository that can be no module by its name", async () => {
    const commit = servers.commit(name(), { "__manifest__.py": "{}", "acme/__manifest__.py": manifest() });
    const { problems, modules } = await fetchCode([{ url: url(), commit }]);
    expect([problems, modules.map((each) => each.name)]).toEqual([[], ["acme"]]);
  });

  test("writes a file that is larger than the memory", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest(), "acme/zeros": "0".repeat(150 * 1024 ** 2) });
    expect((await fetchCode([{ url: url(), commit }], { MEMORY: String(128 * 1024 ** 2) })).problems).toEqual([]);
    expect(statSync(join(place, `1-${name()}/acme/zeros`)).size).toBe(150 * 1024 ** 2);
  });

  test("leaves out links and submodules, follows neither, and takes no filter or attribute of the repository", async () => {
    const submodule = "1".repeat(40);
    const commit = servers.commit(name(), {
      ".gitattributes": "* filter=evil export-ignore\n*.py text eol=crlf",
      ".gitmodules": `[submodule "x"]\n\tpath = acme/x\n\turl = ${servers.http}/tracked\n`,
      "acme/__manifest__.py": manifest(),
      "acme/a.py": "a\n",
      "acme/b": { link: "a.py" },
      "acme/x": { submodule },
    });
    servers.requests.length = 0;
    expect((await fetchCode([{ url: url(), commit }])).problems).toEqual([]);
    const folder = join(place, `1-${name()}/acme`);
    expect(readdirSync(folder).toSorted()).toEqual(["__manifest__.py", "a.py"]);
    expect(readFileSync(join(folder, "a.py"), "utf8")).toBe("a\n");
    expect(servers.requests.filter((request) => request.url.includes("tracked"))).toEqual([]);
  });

  test("writes names of any byte that git allows, and nothing outside of the module", async () => {
    const odd = ["-rf", "$(id)", "a b", "é💥", "%2e%2e", "\\..\\x", "a\nb", "\u001b[31m"].map((each) => Buffer.from(each));
    const bytes = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte !== 0 && byte !== "/".charCodeAt(0));
    const names = [...odd, ...bytes.map((byte) => Buffer.from(["x".charCodeAt(0), byte]))];
    // Git quotes the names like this.
    const quoted = (each: Buffer) => `"acme/${Array.from(each, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"`;
    const files = Object.fromEntries(names.map((each) => [quoted(each), "x"]));
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest(), ...files });
    expect((await fetchCode([{ url: url(), commit }])).problems).toEqual([]);
    const written = readdirSync(join(place, `1-${name()}/acme`), { encoding: "buffer" });
    const hex = (all: readonly Uint8Array[]) => all.map((each) => Buffer.from(each).toString("hex")).toSorted();
    expect(hex(written)).toEqual(hex([Buffer.from("__manifest__.py"), ...names]));
  });
});
