// A host beside the machine with a git repository: a public address in a network namespace of its own, and sshd with git's own
// programs behind it.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { until } from "./machine.ts";

/** Public, and nobody's here: the namespaces lead nowhere else. */
const ADDRESS = "11.7.7.9";
const MACHINE = "11.7.7.1";
const USER_ID = "1717";

export interface GitHost {
  url: string;
  /** Lets a deploy key read the repository. */
  admit: (publicKey: string) => void;
  /** Makes a commit of exactly these files on the branch main. */
  commit: (files: Readonly<Record<string, string>>, message: string) => string;
  stop: () => void;
}

export async function startGitHost(): Promise<GitHost> {
  const folder = mkdtempSync(join(tmpdir(), "git-host-"));
  const within = (name: string): string => join(folder, name);
  const work = within("work");
  const bare = within("acme");
  execFileSync("chmod", ["755", folder]);
  // The user whom every repository's URL names, in this process's own mounts.
  execFileSync("bash", [
    "-c",
    `cat /etc/passwd >"$0/passwd"; echo "git:*:${USER_ID}:65534::$0:/bin/sh" >>"$0/passwd"; mount --bind "$0/passwd" /etc/passwd`,
    folder,
  ]);
  const git = (...words: string[]): string =>
    execFileSync("git", ["-C", work, "-c", "user.name=A", "-c", "user.email=a@example.com", ...words], {
      encoding: "utf8",
    }).trim();
  mkdirSync(work);
  git("init", "-q", "-b", "main");
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", bare]);
  execFileSync("git", ["-C", bare, "config", "uploadpack.allowAnySHA1InWant", "true"]); // as the big hosts do
  writeFileSync(within("host_key"), createKeyPair(randomBytes(32), "git-host").private_key, { mode: 0o600 });
  writeFileSync(within("keys"), "");
  writeFileSync(
    within("sshd_config"),
    [
      "Port 22",
      `HostKey ${within("host_key")}`,
      `AuthorizedKeysFile ${within("keys")}`,
      `PidFile ${within("sshd.pid")}`,
      "StrictModes no",
      "UsePAM no",
      "AllowUsers git",
      'ForceCommand git-shell -c "$SSH_ORIGINAL_COMMAND"',
      "",
    ].join("\n"),
  );
  const sshd = spawn("unshare", ["--net", "/usr/sbin/sshd", "-D", "-f", within("sshd_config"), "-E", within("sshd.log")], {
    stdio: "ignore",
  });
  const pid = String(sshd.pid);
  const ownNamespace = (of: string): string => execFileSync("readlink", [`/proc/${of}/ns/net`]).toString();
  await until("the git host", 10, () => ownNamespace(pid) !== ownNamespace("self"));
  const ip = (...words: string[]) => execFileSync("ip", words);
  const inside = (...words: string[]) => execFileSync("nsenter", ["-t", pid, "-n", "ip", ...words]);
  ip("link", "add", "git-host", "type", "veth", "peer", "name", "machine", "netns", pid);
  ip("link", "set", "git-host", "up");
  ip("address", "add", `${MACHINE}/24`, "dev", "git-host");
  inside("link", "set", "lo", "up");
  inside("link", "set", "machine", "up");
  inside("address", "add", `${ADDRESS}/24`, "dev", "machine");
  await until("its sshd", 10, () => spawnSync("bash", ["-c", `exec 3<>/dev/tcp/${ADDRESS}/22`]).status === 0);
  return {
    url: `ssh://git@${ADDRESS}${bare}`,
    admit: (publicKey) => appendFileSync(within("keys"), `${publicKey}\n`),
    commit: (files, message) => {
      git("rm", "-rqf", "--ignore-unmatch", ".");
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(work, name)), { recursive: true });
        writeFileSync(join(work, name), content);
      }
      git("add", "-A");
      git("commit", "-qm", message);
      // git works with nobody else's repository.
      execFileSync("chown", ["-R", "0:0", bare]);
      git("push", "-q", bare, "main");
      execFileSync("chown", ["-R", `${USER_ID}:65534`, bare]);
      return git("rev-parse", "HEAD");
    },
    stop: () => {
      sshd.kill("SIGKILL");
      execFileSync("umount", ["/etc/passwd"]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
