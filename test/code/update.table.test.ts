// PUT /instances/:id/code: what is refused.
import { beforeAll, describe, expect, test } from "vitest";
import { Code } from "../../shared/api/code.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance } from "../harness/seed.ts";
import { some } from "../harness/some.ts";
import { EMPTY } from "./empty.ts";

let me: TestAccount;
let api: Client;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 1_000);
  ({ api } = await me.token());
});

const URL = "https://git.example/acme";
const path = async () => `/instances/${(await seedInstance(me.id)).id}/code`;
const show = async (at: string) => (await api.get(at)).as(Code);

describe("what is refused", () => {
  const repository = (fields: object) => ({ repositories: [{ url: URL, ref: "main", ...fields }] });
  const refused: readonly (readonly [what: string, body: object, field: string])[] = [
    ["a URL with a password", repository({ url: "https://me:secret@git.example/acme" }), "repositories.0.url"],
    ["another scheme", repository({ url: "http://git.example/acme" }), "repositories.0.url"],
    ["a local file", repository({ url: "file:///etc" }), "repositories.0.url"],
    ["a command", repository({ url: "ext::sh -c id" }), "repositories.0.url"],
    ["an option in place of a host", repository({ url: "ssh://-oProxyCommand=id/acme" }), "repositories.0.url"],
    ["a query", repository({ url: "https://git.example/acme?a=b" }), "repositories.0.url"],
    ["a private address", repository({ url: "https://10.0.0.1/acme" }), "repositories.0.url"],
    ["a private address by ssh", repository({ url: "ssh://git@169.254.169.254/acme" }), "repositories.0.url"],
    ["a port of something else", repository({ url: "https://git.example:6379/acme" }), "repositories.0.url"],
    ["a name without a domain", repository({ url: "https://intranet/acme" }), "repositories.0.url"],
    ["an option in place of a ref", repository({ ref: "--upload-pack=id" }), "repositories.0.ref"],
    ["a ref of the host's own", repository({ ref: "refs/pull/1/head" }), "repositories.0.ref"],
    ["a fork's pull request", repository({ ref: "pull/1/head" }), "repositories.0.ref"],
    ["a fork's merge request", repository({ ref: "merge-requests/1/head" }), "repositories.0.ref"],
    ["a ref that climbs", repository({ ref: "a..b" }), "repositories.0.ref"],
    ["a path that climbs", repository({ path: "../other" }), "repositories.0.path"],
    ["a deploy key with https", repository({ credential: "deploy_key" }), "repositories.0.credential"],
    ["nothing with ssh", repository({ url: "ssh://git@git.example/a" }), "repositories.0.credential"],
    [
      "a token with ssh",
      repository({ url: "ssh://git@git.example/a", credential: { username: "a", token: "b-token" } }),
      "repositories.0.credential",
    ],
    ["a package by URL", { python_packages: ["evil @ https://example.com/evil.whl"] }, "python_packages.0"],
    ["an option of pip", { python_packages: ["--index-url=https://example.com"] }, "python_packages.0"],
    ["a package's path", { python_packages: ["./evil"] }, "python_packages.0"],
    ["a module's path", { install_modules: ["../base"] }, "install_modules.0"],
    ["a variable of the service", { environment: [{ name: "PGHOST", value: "x" }] }, "environment.0.name"],
    ["a password's file for the image", { environment: [{ name: "PASSWORD_FILE", value: "/x" }] }, "environment.0.name"],
    ["a link to a database", { environment: [{ name: "DB_PORT_5432_TCP_ADDR", value: "x" }] }, "environment.0.name"],
    ["its password", { environment: [{ name: "DB_ENV_POSTGRES_PASSWORD", value: "x" }] }, "environment.0.name"],
    ["a database's user", { environment: [{ name: "POSTGRES_USER", value: "x" }] }, "environment.0.name"],
    ["the search path for Python", { environment: [{ name: "PYTHONPATH", value: "/tmp" }] }, "environment.0.name"],
    ["libraries to load first", { environment: [{ name: "LD_PRELOAD", value: "/tmp/x.so" }] }, "environment.0.name"],
    ["a secret that would be found in every log", { environment: [{ name: "A", secret: "short" }] }, "environment.0.secret"],
    ["a token that would be", repository({ credential: { username: "a", token: "short" } }), "repositories.0.credential.token"],
    [
      "a folder of a repository twice, from which modules would be either's",
      {
        repositories: [
          { url: URL, ref: "main" },
          { url: URL, ref: "next" },
        ],
      },
      "repositories",
    ],
    ["two values", { environment: [{ name: "A", value: "x", secret: "y-secret" }] }, "environment.0.secret"],
    [
      "the same variable twice",
      {
        environment: [
          { name: "A", value: "x" },
          { name: "A", value: "y" },
        ],
      },
      "environment",
    ],
    [
      "more than 16 KB of them",
      {
        environment: [
          { name: "A", value: "x".repeat(9000) },
          { name: "B", secret: "y".repeat(9000) },
        ],
      },
      "environment",
    ],
  ];
  test.each(some(refused, 4))("%s", async (_, body, field) => {
    const at = await path();
    const response = await api.put(at, body);
    expect(response.status, response.text).toBe(422);
    expect(response.error?.details).toMatchObject({ field });
    expect(await show(at)).toEqual(EMPTY);
  });
});
