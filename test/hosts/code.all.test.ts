// What the builder makes of repositories: real git servers on loopback, some of them hostile. Only its container is missing.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { JOB_RESULTS } from "../../shared/hosts/host.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { because, reasonIn } from "../../shared/domain/reasons.ts";
import { unless } from "../harness/unless.ts";
import { type GitServers, noGit, startGitServers } from "./git-servers.ts";
import { noMachine } from "./machine.ts";

/** The builder's memory, as much as its container has. */
const MEMORY = 1024 ** 3;
const PROGRAM = new URL("../../shared/hosts/script/code.py", import.meta.url).pathname;
const Resolved = JOB_RESULTS.resolve_code.extend({ known_hosts: z.array(z.string()) });
const Fetched = z.object({
  subjects: z.array(z.string().nullable()),
  problems: JOB_RESULTS.fetch_code.shape.problems,
  modules: z.array(z.object({ name: z.string(), version: z.string(), hash: z.string(), repository: z.number() })),
  folders: z.array(z.string()),
  known_hosts: z.array(z.string()),
});

interface Repository {
  url: string;
  ref?: string;
  path?: string;
  credential?: object;
  commit?: string;
}

/** The limits that replace those of the builder's container. */
interface Limits {
  MEMORY?: string;
  PATH?: string;
  CODE_BYTES_MAX?: string;
  FILE_BYTES_MAX?: string;
  CODE_SECONDS?: string;
  CODE_LOOK_SECONDS?: string;
}

/** What does not get smaller when it is compressed. */
const noise = (bytes: number): string => randomBytes(bytes).toString("latin1");

/** Requests of one try: what it asks for, and the objects. */
const TRY = 2;

describe("the builder", unless(noGit), () => {
  let servers: GitServers;
  let place: string;
  let count = 0;
  beforeAll(async () => {
    servers = await startGitServers();
  });
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "code-"));
    count += 1;
  });
  afterEach(() => {
    servers.requirePassword(undefined);
    servers.redirectTo(undefined);
    servers.repeatCredentials(false);
    servers.stallAfter(undefined);
    rmSync(place, { recursive: true, force: true });
  });
  afterAll(() => servers.stop());

  /** Each test has a repository of its own. */
  const name = () => `repo-${count}`;
  const url = (repository = name()) => `${servers.http}/${repository}`;
  const run = async (
    words: string[],
    repositories: Repository[],
    known_hosts: string[] = [],
    more: Limits = {},
    inPlace: string[] = [],
  ) => {
    const limits = [
      `--as=${more.MEMORY ?? MEMORY}`,
      ...(more.FILE_BYTES_MAX === undefined ? [] : [`--fsize=${more.FILE_BYTES_MAX}`]),
    ];
    const [command = "", ...rest] = [...inPlace, "prlimit", ...limits, "python3", "-I", PROGRAM, ...words];
    const running = promisify(execFile)(command, rest, {
      env: { PATH: process.env["PATH"], CODE_PROTOCOLS: "http:https:ssh", ...more },
    });
    const complete = repositories.map((each) => ({ ref: "main", path: null, credential: null, commit: "", ...each }));
    running.child.stdin?.end(JSON.stringify({ repositories: complete, known_hosts }));
    return JSON.parse((await running).stdout) as unknown;
  };
  const resolve = async (repositories: Repository[], known_hosts?: string[], more?: Limits) =>
    Resolved.parse(await run(["resolve"], repositories, known_hosts, more));
  const fetch = async (repositories: Repository[], more?: Limits) =>
    Fetched.parse(await run(["fetch", "19.0", place], repositories, [], more));
  const manifest = (version = "1.0") => `{'name': 'Acme', 'version': '${version}'}`;
  /** The one problem of a repository, as the API says it. */
  const problemOf = async (repository: Repository, more?: Limits) => {
    const { problems } = await fetch([repository], more);
    const [problem] = problems;
    expect(problems).toHaveLength(1);
    return { code: problem?.code, module: problem?.module, reason: reasonIn(problem?.problem ?? "")?.code };
  };

  test("finds the commit of a branch, of a tag of either kind, and takes a commit as it is", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    servers.git(name(), "tag", "light", commit);
    servers.git(name(), "tag", "-a", "-m", "A tag", "heavy", commit);
    const refs = ["main", "light", "heavy", commit];
    expect((await resolve(refs.map((ref) => ({ url: url(), ref })))).commits).toEqual(
      refs.map(() => ({ commit, problem: null, host_key: null })),
    );
    const { commits } = await resolve([{ url: url(), ref: "other" }, { url: url("nothing") }]);
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
    const { subjects, problems, modules, folders } = await fetch([{ url: url(), commit: first }]);
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
      rmSync(place, { recursive: true, force: true });
      place = mkdtempSync(join(tmpdir(), "code-"));
      const { modules } = await fetch([{ url: url(), commit }]);
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
    const { modules, problems } = await fetch([
      { url: url(acme), commit: servers.git(acme, "rev-parse", "main") },
      { url: url(`${name()}-b`), commit: other, path: "addons" },
    ]);
    expect(problems).toEqual([]);
    expect(modules.map(({ name: each, version, repository }) => [each, version, repository])).toEqual([["acme", "19.0.5.0", 0]]);
    // A path may name a module itself.
    const itself = await fetch([{ url: url(`${name()}-b`), commit: other, path: "addons/acme" }]);
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
    expect((await fetch([{ url: url(), commit: first }])).problems).toEqual([]);
    expect(await problemOf({ url: url(), commit: missingCommit })).toMatchObject({
      code: "CODE_UNREACHABLE",
      reason: "code_moved",
    });
    expect(await problemOf({ url: url(), commit: missingCommit, ref: missingCommit })).toMatchObject({ reason: "code_no_ref" });
  });

  test("looks up the other repositories while a host says nothing, and says which one took too long", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    const connections = new Set<Socket>();
    const silent = createServer((socket) => void connections.add(socket.on("error", () => undefined)));
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    const address = silent.address();
    const at = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    try {
      const urls = [...["a", "b", "c", "d", "e", "f"].map((each) => `${at}/${each}`), url()];
      const began = Date.now();
      const { commits } = await resolve(
        urls.map((each) => ({ url: each })),
        [],
        { CODE_LOOK_SECONDS: "3" },
      );
      expect(Date.now() - began).toBeLessThan(6 * 3_000);
      expect(commits.map(({ problem }) => problem && reasonIn(problem))).toEqual([
        ...urls.slice(0, -1).map((each) => because("code_slow", { url: each })),
        null,
      ]);
      expect(commits.at(-1)?.commit).toBe(commit);
      const { problems } = await fetch(
        [
          { url: url(), commit },
          { url: `${at}/a`, commit },
          { url: `${at}/b`, commit },
        ],
        {
          CODE_SECONDS: "12",
        },
      );
      expect(problems.map(({ code, repository }) => [code, repository])).toEqual([["CODE_UNREACHABLE", 1]]);
    } finally {
      silent.close();
      for (const socket of connections) socket.destroy();
    }
  });

  test("waits for a host that sends next to nothing as long as it packs", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    const programs = join(place, "programs");
    mkdirSync(programs);
    const git = `#!/bin/sh\nenv >>${join(place, "settings")}\nPATH=$REST exec git "$@"\n`;
    writeFileSync(join(programs, "git"), git.replace("$REST", process.env["PATH"] ?? ""), { mode: 0o755 });
    expect((await fetch([{ url: url(), commit }], { PATH: `${programs}:${process.env["PATH"]}` })).problems).toEqual([]);
    const settings = readFileSync(join(place, "settings"), "utf8");
    expect(settings).toContain("http.followRedirects");
    expect(settings).not.toMatch(/lowSpeed/i);
  });

  test("says in other words than git's why it could not read a repository", async () => {
    const https = (message: string): string => `fatal: unable to access 'https://git.example/acme/': ${message}\n`;
    const ssh = (...messages: string[]): string =>
      [...messages, "fatal: Could not read from remote repository.\n", ...ADVICE].map((each) => `${each}\n`).join("");
    const ADVICE = ["Please make sure you have the correct access rights", "and the repository exists."];
    const failing = "The requested URL returned error: ";
    const rows: [stderr: string, code: string, parameters?: Record<string, string>][] = [
      [https(`${failing}301`), "code_redirected"],
      [https(`${failing}308`), "code_redirected"],
      [https(`${failing}429`), "code_host_failing", { status: "429" }],
      [https(`${failing}503`), "code_host_failing", { status: "503" }],
      [
        `error: RPC failed; HTTP 502 curl 22 ${failing}502\nfatal: expected flush after ref listing\n`,
        "code_host_failing",
        { status: "502" },
      ],
      [https(`${failing}403`), "code_no_access"],
      [https(`${failing}410`), "code_no_access"],
      ["fatal: repository 'https://git.example/acme/' not found\n", "code_no_access"],
      ["remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://git.example/acme/'\n", "code_no_access"],
      ["fatal: could not read Username for 'https://git.example': terminal prompts disabled\n", "code_no_access"],
      [
        https("server certificate verification failed. CAfile: /etc/ssl/certs/ca-certificates.crt CRLfile: none"),
        "code_host_certificate",
        { output: "server certificate verification failed. CAfile: /etc/ssl/certs/ca-certificates.crt CRLfile: none" },
      ],
      [
        https("SSL: no alternative certificate subject name matches target host name 'git.example'"),
        "code_host_certificate",
        { output: "SSL: no alternative certificate subject name matches target host name 'git.example'" },
      ],
      [
        https("Failed to connect to git.example port 443 after 0 ms: Couldn't connect to server"),
        "code_host_unknown",
        { output: "Failed to connect to git.example port 443 after 0 ms: Couldn't connect to server" },
      ],
      [https("Could not resolve host: git.example"), "code_host_unknown", { output: "Could not resolve host: git.example" }],
      [https("Empty reply from server"), "code_not_fetched", { output: "Empty reply from server" }],
      [https("Recv failure: Connection reset by peer"), "code_not_fetched", { output: "Recv failure: Connection reset by peer" }],
      [
        ssh("ssh: Could not resolve hostname git.example: Name or service not known"),
        "code_host_unknown",
        { output: "ssh: Could not resolve hostname git.example: Name or service not known" },
      ],
      [
        ssh("ssh: connect to host git.example port 22: Connection refused"),
        "code_host_unknown",
        { output: "ssh: connect to host git.example port 22: Connection refused" },
      ],
      [
        ssh("kex_exchange_identification: Connection closed by remote host", "Connection closed by 192.0.2.1 port 22"),
        "code_not_fetched",
        { output: "Connection closed by 192.0.2.1 port 22" },
      ],
      [ssh("git@git.example: Permission denied (publickey)."), "code_no_access"],
      [ssh("ERROR: Repository not found."), "code_no_access"],
      [ssh("fatal: 'acme' does not appear to be a git repository"), "code_no_access"],
      [ssh(), "code_no_access"],
    ];
    const load = [
      "import importlib.util, json, sys",
      "spec = importlib.util.spec_from_file_location('fetcher', sys.argv[1])",
      "fetcher = importlib.util.module_from_spec(spec)",
      "spec.loader.exec_module(fetcher)",
      "git = fetcher.Git({'url': 'https://git.example/acme', 'ref': 'main', 'path': None, 'credential': None}, '/', '/')",
      "print(json.dumps([str(git.explain(said.encode())) for said in json.load(sys.stdin)]))",
    ];
    const running = promisify(execFile)("python3", ["-I", "-c", load.join("\n"), PROGRAM]);
    running.child.stdin?.end(JSON.stringify(rows.map(([stderr]) => stderr)));
    const sentences = z.array(z.string()).parse(JSON.parse((await running).stdout));
    expect(sentences.map((sentence) => reasonIn(sentence))).toEqual(
      rows.map(([, code, parameters]) => ({ code, parameters: { url: "https://git.example/acme", ...parameters } })),
    );
  });

  test("finds the modules below a manifest at the top of a repository that can be no module by its name", async () => {
    const commit = servers.commit(name(), { "__manifest__.py": "{}", "acme/__manifest__.py": manifest() });
    const { problems, modules } = await fetch([{ url: url(), commit }]);
    expect([problems, modules.map((each) => each.name)]).toEqual([[], ["acme"]]);
  });

  describe("says what is wrong", () => {
    test.each([
      ["no module", { "README.md": "text" }, "code_no_module", null],
      ["a manifest that does not parse", { "acme/__manifest__.py": "{'name':" }, "code_manifest", "acme"],
      ["a manifest that is code", { "acme/__manifest__.py": "__import__('os').system('id')" }, "code_manifest", "acme"],
      ["a manifest that is a list", { "acme/__manifest__.py": "[]" }, "code_manifest", "acme"],
      ["a manifest as deep as a stack", { "acme/__manifest__.py": "[".repeat(100_000) }, "code_manifest", "acme"],
      ["another version of the ERP", { "acme/__manifest__.py": manifest("17.0.1.0.0") }, "code_other_version", "acme"],
      ["two modules of a name", { "a/acme/__manifest__.py": "{}", "b/acme/__manifest__.py": "{}" }, "code_module_twice", "acme"],
      [
        "a link to a file of the machine",
        { "acme/__manifest__.py": "{}", "acme/a": { link: "/etc/shadow" } },
        "code_link_outside",
        null,
      ],
      ["a link that climbs", { "acme/__manifest__.py": "{}", "acme/a": { link: "../../../x" } }, "code_link_outside", null],
      ["a module that can have no name", { "__manifest__.py": "{}", "models/a.py": "" }, "code_misnamed", null],
      ["a manifest that is a link", { "acme/__manifest__.py": { link: "../b.py" }, "b.py": "{}" }, "code_no_module", null],
    ] as const)("of %s", async (_, files, reason, module) => {
      const commit = servers.commit(name(), files);
      expect(await problemOf({ url: url(), commit })).toEqual({ code: "CODE_INVALID", module, reason });
    });

    const digits = Array.from({ length: 10 }, (_, index) => `d${index}`);
    test.each([
      ["billions of files, in trees that name each other", "README.md", Array.from({ length: 9 }, () => digits)],
      ["more modules than there can be", "__manifest__.py", [Array.from({ length: 20_000 }, (_, index) => `module_${index}`)]],
    ])("of %s", async (_, file, levels) => {
      const inmost = servers.commit(name(), { [file]: "{}" });
      const commit = servers.commitOf(name(), inmost, levels);
      expect(await problemOf({ url: url(), commit })).toMatchObject({ code: "CODE_INVALID", reason: "code_too_large" });
    });

    test("of paths that are too long together", async () => {
      const inmost = servers.commit(name(), { "__manifest__.py": "{}" });
      const commit = servers.commitOf(
        name(),
        inmost,
        Array.from({ length: 200 }, () => ["a".repeat(4_000)]),
      );
      expect(await problemOf({ url: url(), commit })).toMatchObject({ code: "CODE_INVALID", reason: "code_paths_too_long" });
    });

    test.each([
      ["a name that is too long", "a".repeat(300)],
      ["a path that is too long", `${"a".repeat(200)}/`.repeat(25)],
      ["folders in folders", "a/".repeat(1_200)],
    ])("of %s, and names the repository", async (_, path) => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": manifest(), [`acme/${path}file`]: "" });
      const { problems } = await fetch([{ url: url(), commit }, { url: url("nothing") }]);
      expect(problems.map(({ code, repository }) => [code, repository])).toEqual([
        ["CODE_INVALID", 0],
        ["CODE_UNREACHABLE", 1],
      ]);
      expect(reasonIn(problems[0]?.problem ?? "")).toMatchObject({ code: "code_path_not_allowed", parameters: { url: url() } });
    });

    test("of a version whose number has no text", async () => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": `{'version': 0x${"f".repeat(5_000)}}` });
      expect(await problemOf({ url: url(), commit })).toMatchObject({ module: "acme", reason: "code_manifest" });
    });

    test("of a manifest that is too large to be read", async () => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": `{}${" ".repeat(1024 ** 2)}` });
      const { problems } = await fetch([{ url: url(), commit }]);
      expect(problems[0]?.problem).toMatch(/does not parse: it has more than 1 MB$/);
    });

    test("of a link that is longer than a path", async () => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": "{}", "acme/a": { link: "a/".repeat(4_000) } });
      expect(await problemOf({ url: url(), commit })).toMatchObject({ reason: "code_link_outside" });
    });

    test("of too many bytes, before any of them is written", async () => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": manifest(), "acme/zeros": "0".repeat(300_000) });
      expect(await problemOf({ url: url(), commit }, { CODE_BYTES_MAX: "200000" })).toMatchObject({ reason: "code_too_large" });
      expect(readdirSync(place)).toEqual([]);
    });
  });

  test("writes a file that is larger than the memory", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest(), "acme/zeros": "0".repeat(150 * 1024 ** 2) });
    expect((await fetch([{ url: url(), commit }], { MEMORY: String(128 * 1024 ** 2) })).problems).toEqual([]);
    expect(statSync(join(place, `1-${name()}/acme/zeros`)).size).toBe(150 * 1024 ** 2);
  });

  test.each(["ls-tree", "cat-file --batch"])("says which repository takes too long to be read by git %s", async (slow) => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    const programs = join(place, "programs");
    mkdirSync(programs);
    const git = `#!/bin/sh\ncase "$*" in *"${slow}"*) exec sleep 600 ;; esac\nPATH=$REST exec git "$@"\n`;
    writeFileSync(join(programs, "git"), git.replace("$REST", process.env["PATH"] ?? ""), { mode: 0o755 });
    const limits = { CODE_SECONDS: "5", PATH: `${programs}:${process.env["PATH"]}` };
    expect(await problemOf({ url: url(), commit }, limits)).toMatchObject({ code: "CODE_UNREACHABLE", reason: "code_slow" });
  });

  describe("git's scratch", () => {
    const LIMIT = 200_000;
    const large = () => servers.commit(name(), { "acme/__manifest__.py": manifest(), "acme/a": noise(3 * LIMIT) });
    /** The requests for objects: one of each try. */
    const tries = (): number => servers.requests.filter(({ url: each }) => each.endsWith("/git-upload-pack")).length;
    beforeEach(() => {
      servers.requests.length = 0;
    });

    test("has a limit: git is ended while it fetches more, which is not tried again", async () => {
      const commit = large();
      servers.stallAfter({ bytes: 2 * LIMIT, breaks: false });
      expect(await problemOf({ url: url(), commit }, { CODE_BYTES_MAX: String(LIMIT) })).toMatchObject({
        reason: "code_too_large",
      });
      expect(tries()).toBeLessThanOrEqual(TRY);
      expect(readdirSync(place)).toEqual([]);
    });

    test("of a file that is larger than the container lets it be is not tried again either", async () => {
      const commit = large();
      const limited = { CODE_BYTES_MAX: String(10 * LIMIT), FILE_BYTES_MAX: String(LIMIT) };
      expect(await problemOf({ url: url(), commit }, limited)).toMatchObject({ reason: "code_too_large" });
      expect(tries()).toBeLessThanOrEqual(TRY);
    });

    test("is emptied between two tries", async () => {
      const commit = large();
      servers.stallAfter({ bytes: LIMIT, breaks: true });
      const problem = await problemOf({ url: url(), commit }, { CODE_BYTES_MAX: String(1.5 * LIMIT) });
      expect(problem).toMatchObject({ code: "CODE_UNREACHABLE" });
      expect(tries()).toBeGreaterThan(TRY);
    });
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
    expect((await fetch([{ url: url(), commit }])).problems).toEqual([]);
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
    expect((await fetch([{ url: url(), commit }])).problems).toEqual([]);
    const written = readdirSync(join(place, `1-${name()}/acme`), { encoding: "buffer" });
    const hex = (all: readonly Uint8Array[]) => all.map((each) => Buffer.from(each).toString("hex")).toSorted();
    expect(hex(written)).toEqual(hex([Buffer.from("__manifest__.py"), ...names]));
  });

  describe("credentials", () => {
    test("are sent to the repository's host, and to no other that it redirects to", async () => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
      servers.requirePassword("deploy:very-secret");
      const credential = { username: "deploy", token: "very-secret" };
      expect((await fetch([{ url: url(), commit, credential }])).problems).toEqual([]);
      expect(await problemOf({ url: url(), commit })).toMatchObject({ reason: "code_no_access" });
      const other = await startGitServers();
      try {
        servers.redirectTo(other.http);
        const { commits } = await resolve([{ url: url(), credential }]);
        expect(reasonIn(commits[0]?.problem ?? "")).toEqual(because("code_redirected", { url: url() }));
        expect(JSON.stringify(commits)).not.toMatch(/very-secret/);
        expect(other.requests).toEqual([]);
      } finally {
        other.stop();
      }
    });

    test("are in no error, also if the host repeats them", async () => {
      servers.commit(name(), { "acme/__manifest__.py": manifest() });
      servers.repeatCredentials(true);
      const credential = { username: "deploy", token: "glpat-5ecret" };
      const { commits } = await resolve([{ url: url(), credential }]);
      expect(commits[0]?.problem).toContain("you sent Basic [redacted]");
    });

    test("of a big host whose key is pinned, no other key is taken, and none is remembered", unless(noMachine), async () => {
      const { private_key, public_key } = createKeyPair(new Uint8Array(32).fill(3), "deploy");
      servers.authorizedKey(public_key);
      servers.commit(name(), { "acme/__manifest__.py": manifest() });
      const hosts = join(place, "hosts");
      writeFileSync(hosts, "127.0.0.1 github.com gitlab.com bitbucket.org git.example\n");
      const inPlace = ["unshare", "--mount", "sh", "-c", `mount --bind ${hosts} /etc/hosts && exec "$@"`, "sh"];
      const at = async (host: string) => {
        const repository = { url: `${servers.ssh}/${name()}`.replace("127.0.0.1", host), credential: { private_key } };
        return Resolved.parse(await run(["resolve"], [repository], [], {}, inPlace));
      };
      for (const host of ["github.com", "gitlab.com", "bitbucket.org"]) {
        const { commits, known_hosts } = await at(host);
        expect(commits[0]?.problem, host).toMatch(/presents a different key than before/);
        expect(known_hosts, host).toEqual([]);
      }
      expect((await at("git.example")).known_hosts).toHaveLength(1);
    });

    test("a deploy key reads by ssh, and the host's key is remembered: another one is rejected from then on", async () => {
      const { private_key, public_key } = createKeyPair(new Uint8Array(32).fill(3), "deploy");
      servers.authorizedKey(public_key);
      const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
      const repository = { url: `${servers.ssh}/${name()}`, commit, credential: { private_key } };
      const { commits, known_hosts } = await resolve([repository]);
      expect(known_hosts).toHaveLength(1);
      expect(commits).toEqual([{ commit, problem: null, host_key: known_hosts[0]?.split(" ").slice(1).join(" ") }]);
      expect((await fetch([repository])).problems).toEqual([]);
      const [host = ""] = known_hosts;
      const [, other = ""] = createKeyPair(new Uint8Array(32).fill(9), "x").public_key.split(" ");
      const changed = host.replace(/[A-Za-z0-9+/=]{60,}$/, other);
      expect(changed).not.toBe(host);
      const rejected = await resolve([repository], [changed]);
      expect(reasonIn(rejected.commits[0]?.problem ?? "")).toEqual(because("code_new_host_key", { url: repository.url }));
      const stranger = createKeyPair(new Uint8Array(32).fill(4), "deploy").private_key;
      const denied = await resolve([{ ...repository, credential: { private_key: stranger } }], known_hosts);
      expect(reasonIn(denied.commits[0]?.problem ?? "")?.code).toBe("code_no_access");
    });
  });

  test("reads nothing but https and ssh, and runs nothing that a URL or a ref names", async () => {
    const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
    const marker = join(place, "ran");
    const urls = [
      `file:///etc`,
      `ext::sh -c touch% ${marker}`,
      `--upload-pack=touch ${marker}`,
      `ssh://-oProxyCommand=touch ${marker}/x`,
    ];
    const { commits } = await resolve(urls.map((each) => ({ url: each, commit })));
    expect(commits.map((each) => each.commit)).toEqual(urls.map(() => null));
    expect((await resolve([{ url: url(), ref: `--upload-pack=touch ${marker}` }])).commits[0]?.commit).toBeNull();
    expect(existsSync(marker)).toBe(false);
  });
});
