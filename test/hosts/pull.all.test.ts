// How the script on a machine pulls images: each reason of a failure as a sentence, and the operator's mirror and credentials.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { hostScript } from "../../shared/hosts/host-script.ts";

const folder = mkdtempSync(join(tmpdir(), "pull-"));
afterAll(() => rmSync(folder, { recursive: true }));
const script = join(folder, "script.sh");
const job = join(folder, "job");
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(job, "work"), { recursive: true });
  writeFileSync(script, hostScript());
});

/** Pulls odoo:19.0, with a Docker that has no images, says this, and writes down what it was asked for. */
function pulled(says: string, parameters: Readonly<Record<string, string>> = {}, images = ["odoo:19.0"]) {
  const docker = join(folder, "docker");
  const line = says.replaceAll("'", String.raw`'\''`);
  const fails = says === "" ? "" : `echo '${line}' >&2; exit 1;`;
  writeFileSync(
    docker,
    `#!/bin/bash\necho "$*" >> ${folder}/calls\ncase "$*" in *"pull -q"*) ${fails} ;; "image inspect"*) exit 1 ;; esac\n`,
    { mode: 0o755 },
  );
  const set = Object.entries(parameters).map(
    ([name, value]) => `P[${name}]=$(base64 -d <<<"${Buffer.from(value).toString("base64")}")`,
  );
  const program = [
    `source "$0" probe >/dev/null`,
    `PATH=${folder}:$PATH`,
    `JOB=${job}`,
    "sleep() { :; }",
    ...set,
    `pull ${images.join(" ")}`,
  ];
  const { status, stderr } = spawnSync("bash", ["-c", program.join("\n"), script], { encoding: "utf8", input: "" });
  if (status !== 0 && !existsSync(join(job, "failure"))) throw new Error(stderr);
  const calls = existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8").trimEnd().split("\n") : [];
  const failure = join(job, "failure");
  return { status, calls, message: existsSync(failure) ? readFileSync(failure, "utf8").split("\n")[1] : undefined };
}
const pullsIn = (calls: readonly string[]): string[] => calls.filter((call) => call.includes("pull"));

const DAEMON = "Error response from daemon: ";
describe("an image that cannot be pulled", () => {
  test.each([
    [
      "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating",
      "limits how much",
      4,
    ],
    ["unexpected status from HEAD request to https://r/v2/odoo/manifests/19.0: 429 Too Many Requests", "limits how much", 4],
    ["manifest for odoo:19.0 not found: manifest unknown: manifest unknown", "has no such image", 1],
    ["pull access denied for odoo, repository does not exist or may require 'docker login'", "has no such image", 1],
    ['Head "https://r/v2/odoo/manifests/19.0": no basic auth credentials', "rejects the service's credentials", 1],
    [
      'Get "https://r/v2/odoo/manifests/19.0": unauthorized: incorrect username or password',
      "rejects the service's credentials",
      1,
    ],
    ["denied: requested access to the resource is denied", "rejects the service's credentials", 1],
    ['Get "https://r/v2/": dial tcp: lookup r on 10.0.0.1:53: no such host', "cannot reach the registry", 4],
    ['Get "https://r/v2/": dial tcp 10.9.9.9:443: connect: network is unreachable', "cannot reach the registry", 4],
    ['Get "https://r/v2/": dial tcp 127.0.0.1:5000: connect: connection refused', "cannot reach the registry", 4],
    ['Get "https://r/v2/": net/http: TLS handshake timeout', "does not respond", 4],
    ['Get "https://r/v2/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "does not respond", 4],
    ["write /var/lib/docker/tmp/GetImageBlob1: no space left on device", "disk is full", 1],
    ["no matching manifest for linux/arm64/v8 in the manifest list entries", "for this server's processor", 1],
    [
      'Get "https://r/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
      "certificate of",
      1,
    ],
    ["received unexpected HTTP status: 503 Service Unavailable", "Docker reports: Error response from daemon: received", 4],
  ])("%s", (says, reason, tries) => {
    const { message, calls } = pulled(DAEMON + says);
    expect(message).toMatch(/^The image odoo:19.0 could not be pulled: /);
    expect(message).toContain(reason);
    expect(pullsIn(calls)).toHaveLength(tries);
  });
});

test("the mirror has the images of Docker Hub, under their own names here; others come from the registry that they name", () => {
  const images = ["odoo:19.0", "pgvector/pgvector:pg16", "registry.example.com/pg:16"];
  const { status, calls } = pulled("", { REGISTRY_MIRROR: "mirror.example.com:5000/hub" }, images);
  expect(status).toBe(0);
  expect(calls).toEqual([
    "pull -q mirror.example.com:5000/hub/library/odoo:19.0",
    "tag mirror.example.com:5000/hub/library/odoo:19.0 odoo:19.0",
    "image rm mirror.example.com:5000/hub/library/odoo:19.0",
    "pull -q mirror.example.com:5000/hub/pgvector/pgvector:pg16",
    "tag mirror.example.com:5000/hub/pgvector/pgvector:pg16 pgvector/pgvector:pg16",
    "image rm mirror.example.com:5000/hub/pgvector/pgvector:pg16",
    "pull -q registry.example.com/pg:16",
  ]);
  const { message } = pulled(`${DAEMON}manifest unknown`, { REGISTRY_MIRROR: "mirror.example.com" });
  expect(message).toContain("the registry mirror has no such image");
});

test("credentials are in a file that only root reads, for the mirror or Docker Hub, and on no command line", () => {
  const credentials = { REGISTRY_USERNAME: "puller", REGISTRY_PASSWORD: `p"a$s'w` };
  for (const [mirror, host] of [
    ["mirror.example.com:5000/hub", "mirror.example.com:5000"],
    ["", "https://index.docker.io/v1/"],
  ] as const) {
    rmSync(join(folder, "calls"), { force: true });
    const { calls } = pulled("", { ...credentials, REGISTRY_MIRROR: mirror });
    expect(calls.join("\n")).toContain(`--config ${job}/work/docker pull -q`);
    expect(calls.join("\n")).not.toContain("puller");
    expect(JSON.parse(readFileSync(join(job, "work/docker/config.json"), "utf8"))).toEqual({
      auths: { [host]: { auth: Buffer.from(`puller:p"a$s'w`).toString("base64") } },
    });
  }
});
