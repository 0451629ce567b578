// A user of the packaged product: `npm start` in a new folder, and what the README promises.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { buildDashboard } from "../../infra/dashboard-build.ts";
import { ssoStart } from "../../shared/api/auth.ts";
import { Sso } from "../../shared/api/sso.ts";
import { chooseAt, newTab } from "../harness/sso.ts";
import { unique, uniqueDomain } from "../harness/unique.ts";
import { isAlive, listeners, type Started } from "./product.ts";
import {
  call,
  dataDir,
  demo,
  Envelope,
  instanceBody,
  make,
  Operation,
  port,
  product,
  serverBody,
  stop,
  until,
  up,
} from "./started.ts";

let started: Started;
beforeAll(async () => {
  // This run has built it. What starts in test/e2e/start-again.all.test.ts builds it itself.
  product.bring([await buildDashboard()]);
  started = await up();
});
// An earlier try of a test may have stopped it.
beforeEach(async () => {
  if (!isAlive(started.pid)) started = await up();
});

test("npm start prints the URL and the sign-in, and stores them in a file that only its owner can read", async () => {
  const output = started.stdout();
  for (const fact of [demo.base_url, demo.dashboard_url, demo.email, demo.password, demo.token]) expect(output).toContain(fact);
  expect(demo.base_url).toBe(`http://127.0.0.1:${port}/api/v1`);
  expect(demo.dashboard_url, "where browsers offer passkeys").toBe(`http://localhost:${port}/`);
  expect(started.stderr()).toBe("");
  for (const file of ["demo.json", "access.json", "local-secret"])
    expect(statSync(join(dataDir, file)).mode & 0o077, file).toBe(0);
  expect((await fetch(new URL("docs", demo.dashboard_url))).status).toBe(200);
});

test("npm start prints curl commands that work as pasted", () => {
  const lines = started.stdout().match(/^curl .+$/gm) ?? [];
  expect(lines.length).toBeGreaterThanOrEqual(3);
  for (const line of lines) {
    const response = execFileSync("bash", ["-c", line], { encoding: "utf8" });
    expect(Envelope.parse(JSON.parse(response)).success, line).toBe(true);
  }
});

const Begun = z.looseObject({ token: z.string(), user: z.looseObject({ email: z.string() }) });

test("npm start brings an identity provider, with which people sign in once single sign-on is set to it", async () => {
  const { domain, ...provider } = demo.identity_provider;
  expect(started.stdout()).toContain(provider.issuer);
  const { email, password } = demo;
  const { token } = Begun.parse(await call("POST", "/auth/login", { email, password }));
  const { domains } = Sso.parse(await call("PUT", "/settings/sso", { ...provider, domains: [{ name: domain }] }, token));
  await call("PUT", `/sandbox/dns/${domain}`, { txt: domains.map(({ txt_record }) => txt_record) });
  await call("POST", `/settings/sso/domains/${domain}/verify`, {}, token);
  const tab = newTab();
  const request = { email: `ann@${domain}`, browser_challenge: tab.challenge };
  const { authorization_url } = ssoStart().data.parse(await call("POST", "/auth/sso/start", request));
  const callback = await chooseAt(authorization_url, "ann");
  const { user } = Begun.parse(await call("POST", "/auth/sso/finish", { ...callback, browser_secret: tab.secret }));
  expect(user.email).toBe(request.email);
});

test("npm start listens on 127.0.0.1 only, with every part", () => {
  const addresses = listeners(started.processes());
  expect(addresses.length).toBeGreaterThanOrEqual(3); // the gateway, the local AWS, DynamoDB Local
  // 127.0.0.1 in the format of /proc, for IPv4 and mapped into IPv6
  const foreign = addresses.filter((address) => !/^(0100007F|0000000000000000FFFF00000100007F):[0-9A-F]{4}$/.test(address));
  expect(foreign).toEqual([]);
  expect(addresses.some((address) => address.endsWith(`:${port.toString(16).toUpperCase().padStart(4, "0")}`))).toBe(true);
});

test("a user gets from a server to a clone within seconds per step, and can keep the archive", async () => {
  const login = await fetch(`${demo.base_url}/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: demo.email, password: demo.password }),
  });
  expect(login.status).toBe(200);
  const data = { orders: 3 };
  const server = await make("/servers", serverBody(unique("first")));
  const instance = await make("/instances", instanceBody("shop", server.id));
  await call("PUT", `/sandbox/instances/${instance.id}/data`, data);
  const backup = await make(`/instances/${instance.id}/backups`, { note: "of the walk" });
  await call("PUT", `/sandbox/instances/${instance.id}/data`, { gone: true });
  expect(await until(Operation.parse(await call("POST", `/backups/${backup.id}/restore`, {})).id)).toMatchObject({
    status: "succeeded",
  });
  expect(await call("GET", `/sandbox/instances/${instance.id}/data`)).toEqual(data);
  const copy = { name: "Copy", domain: uniqueDomain("copy"), backup_id: backup.id };
  const clone = await make(`/instances/${instance.id}/clone`, copy);
  expect(await call("GET", `/sandbox/instances/${clone.id}/data`)).toEqual(data);
  const { sha256 } = z.looseObject({ sha256: z.string() }).parse(await call("GET", `/backups/${backup.id}`));
  const { url } = z.object({ url: z.url(), expires_at: z.string() }).parse(await call("GET", `/backups/${backup.id}/download`));
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
  expect(Object.keys(unzipSync(bytes))).toEqual(expect.arrayContaining(["dump.sql", "manifest.json"]));
});

test("Ctrl-C stops npm start completely", async () => {
  await stop(started);
  expect(isAlive(started.pid)).toBe(false);
});
