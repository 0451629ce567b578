// How long the builder waits for a repository, and how much of it git may fetch.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { because, reasonIn } from "../../shared/domain/reasons.ts";
import { unless } from "../harness/unless.ts";
import { noGit } from "./git-servers.ts";
import { fetchCode, manifest, name, place, problemOf, resolveCode, servers, startRepositories, url } from "./repositories.ts";

/** What does not get smaller when it is compressed. */
const noise = (bytes: number): string => randomBytes(bytes).toString("latin1");

/** Requests of one try: what it asks for, and the objects. */
const TRY = 2;

describe("the builder", unless(noGit), () => {
  startRepositories();

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
      const { commits } = await resolveCode(
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
      const { problems } = await fetchCode(
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
    expect((await fetchCode([{ url: url(), commit }], { PATH: `${programs}:${process.env["PATH"]}` })).problems).toEqual([]);
    const settings = readFileSync(join(place, "settings"), "utf8");
    expect(settings).toContain("http.followRedirects");
    expect(settings).not.toMatch(/lowSpeed/i);
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
});
