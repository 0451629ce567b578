// What the builder says of repositories that cannot be read, and of those that have no modules as they must be.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { reasonIn } from "../../shared/domain/reasons.ts";
import { unless } from "../harness/unless.ts";
import { noGit } from "./git-servers.ts";
import { fetchCode, manifest, name, place, problemOf, PROGRAM, servers, startRepositories, url } from "./repositories.ts";

describe("the builder", unless(noGit), () => {
  startRepositories();

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
      const { problems } = await fetchCode([{ url: url(), commit }, { url: url("nothing") }]);
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
      const { problems } = await fetchCode([{ url: url(), commit }]);
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
});
