// The builder's container, as the machine's real script starts it: what it may do, and for how long.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { unless } from "../harness/unless.ts";
import { noGit } from "./git-servers.ts";
import { noMachine } from "./machine.ts";

const TOKEN = "glpat-5ecret";

/** Fetches code, then installs packages without and with builds from source. Commands are recorded, a line each. */
const WORLD = `
set -euo pipefail
ROOT=$PWD JOB=$PWD/job HERE=$PWD/instance PROJECT=erp-ins_1 VERSION=19.0 IMAGE=sha256:image
refresh_firewall() { :; }
P=([REPOSITORIES]='[{"credential":{"token":"${TOKEN}"}}]' [PACKAGES]=$'phonenumbers==8.13.0\\nzeep' [SOURCE_BUILDS]=no)
prepare_builder
fetch_into erp-ins_1_code_op_1
fill_python erp-ins_1_python_op_1
P[SOURCE_BUILDS]=yes
fill_python erp-ins_1_python_op_1
`;

describe("the builder", unless(noMachine ?? noGit), () => {
  let folder: string;
  /** The commands that limit the time of the builder, with what they run. */
  let [fetches, builds, buildsFromSource]: string[][] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "builder-"));
    for (const name of ["commands", "job/work", "instance", "locks"]) mkdirSync(join(folder, name), { recursive: true });
    const put = (name: string, script: string): void => {
      writeFileSync(join(folder, "commands", name), `#!/bin/bash\n${script}`);
      chmodSync(join(folder, "commands", name), 0o755);
    };
    put("timeout", `jq -cn '$ARGS.positional' --args -- "$@" >>"$NOTES"/calls; shift 4; exec "$@"`);
    put(
      "docker",
      `case "$*" in
        *"-builder "*) cat >>"$NOTES"/stdin; echo '{"known_hosts":[]}' ;;
        "run "*" -i "*) cat >/dev/null ;;
      esac`,
    );
    writeFileSync(join(folder, "script.sh"), hostScript());
    writeFileSync(join(folder, "world.sh"), `source ./script.sh probe >/dev/null\n${WORLD}`);
    const env = { PATH: `${folder}/commands:${process.env["PATH"]}`, NOTES: folder };
    const { status, stderr } = spawnSync("bash", ["world.sh"], { cwd: folder, env, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    const lines = readFileSync(join(folder, "calls"), "utf8").trimEnd().split("\n");
    [fetches, builds, buildsFromSource] = lines.map((line) => z.array(z.string()).parse(JSON.parse(line)));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is a container without rights, on a network of its own, and with limits of memory, processes, files and time", () => {
    for (const [call, seconds] of [
      [fetches, "600"],
      [builds, "1200"],
      [buildsFromSource, "1200"],
    ] as const) {
      expect(call?.slice(0, 7)).toEqual(["--foreground", "-k", "10", seconds, "docker", "run", "--rm"]);
      const options = call?.slice(7, call.indexOf("--entrypoint")).join(" ");
      for (const option of [
        "--network erp-builder",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--read-only",
        "--user 65534:65534",
        "--memory 1g --memory-swap 1g",
        "--pids-limit 128",
        "--ulimit fsize=1073741824",
        "--log-driver none",
      ])
        expect(options).toContain(option);
      expect(options).not.toMatch(/--privileged|--cap-add|docker\.sock|--device|--pid[ =]|--env-file/);
    }
  });

  test("sees nothing of the machine but its programs, and of the instance only the volume that it fills", () => {
    const mounts = (call: readonly string[] = []) => call.filter((_, index) => call[index - 1] === "-v");
    const programs = ["/usr:/usr:ro", "/etc/ssl:/etc/ssl:ro", "/etc/ld.so.cache:/etc/ld.so.cache:ro"];
    expect(mounts(fetches)).toEqual([...programs, "erp-ins_1_code_op_1:/code"]);
    expect([mounts(builds), mounts(buildsFromSource)]).toEqual([[], []]);
    expect(builds?.join(" ")).toContain("--tmpfs /tmp:size=512m,nr_inodes=200k,mode=1777,exec");
  });

  test("installs packages from wheels, and runs their own code only if that is allowed", () => {
    expect(builds?.slice(-2)).toEqual(["sh", "--only-binary=:all:"]);
    expect(buildsFromSource?.at(-1)).toBe("sh");
    expect(buildsFromSource).not.toContain("--only-binary=:all:");
  });

  test("gets credentials and packages by stdin, and nothing of them on a command line", () => {
    const stdin = readFileSync(join(folder, "stdin"), "utf8");
    expect([stdin.includes(TOKEN), stdin.includes("zeep")]).toEqual([true, true]);
    expect(readFileSync(join(folder, "calls"), "utf8")).not.toMatch(/5ecret|zeep/);
  });
});
