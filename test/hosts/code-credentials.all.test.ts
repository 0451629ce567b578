// Whom the builder shows credentials to, and which keys of hosts it takes; a URL makes it run nothing.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { because, reasonIn } from "../../shared/domain/reasons.ts";
import { unless } from "../harness/unless.ts";
import { noGit, startGitServers } from "./git-servers.ts";
import { noMachine } from "./machine.ts";
import {
  fetchCode,
  manifest,
  name,
  place,
  problemOf,
  resolveCode,
  Resolved,
  runProgram,
  servers,
  startRepositories,
  url,
} from "./repositories.ts";

describe("the builder", unless(noGit), () => {
  startRepositories();

  describe("credentials", () => {
    test("are sent to the repository's host, and to no other that it redirects to", async () => {
      const commit = servers.commit(name(), { "acme/__manifest__.py": manifest() });
      servers.requirePassword("deploy:very-secret");
      const credential = { username: "deploy", token: "very-secret" };
      expect((await fetchCode([{ url: url(), commit, credential }])).problems).toEqual([]);
      expect(await problemOf({ url: url(), commit })).toMatchObject({ reason: "code_no_access" });
      const other = await startGitServers();
      try {
        servers.redirectTo(other.http);
        const { commits } = await resolveCode([{ url: url(), credential }]);
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
      const { commits } = await resolveCode([{ url: url(), credential }]);
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
        return Resolved.parse(await runProgram(["resolve"], [repository], [], {}, inPlace));
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
      const { commits, known_hosts } = await resolveCode([repository]);
      expect(known_hosts).toHaveLength(1);
      expect(commits).toEqual([{ commit, problem: null, host_key: known_hosts[0]?.split(" ").slice(1).join(" ") }]);
      expect((await fetchCode([repository])).problems).toEqual([]);
      const [host = ""] = known_hosts;
      const [, other = ""] = createKeyPair(new Uint8Array(32).fill(9), "x").public_key.split(" ");
      const changed = host.replace(/[A-Za-z0-9+/=]{60,}$/, other);
      expect(changed).not.toBe(host);
      const rejected = await resolveCode([repository], [changed]);
      expect(reasonIn(rejected.commits[0]?.problem ?? "")).toEqual(because("code_new_host_key", { url: repository.url }));
      const stranger = createKeyPair(new Uint8Array(32).fill(4), "deploy").private_key;
      const denied = await resolveCode([{ ...repository, credential: { private_key: stranger } }], known_hosts);
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
    const { commits } = await resolveCode(urls.map((each) => ({ url: each, commit })));
    expect(commits.map((each) => each.commit)).toEqual(urls.map(() => null));
    expect((await resolveCode([{ url: url(), ref: `--upload-pack=touch ${marker}` }])).commits[0]?.commit).toBeNull();
    expect(existsSync(marker)).toBe(false);
  });
});
