// What people write in their own script, spelling, time zone or encoding.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Sso } from "../shared/api/sso.ts";
import { createUser } from "../shared/operations/accounts/operator.ts";
import { uniqueForm } from "../shared/domain/words.ts";
import { account, type TestAccount, unique, uniqueDatabase } from "./harness/account.ts";
import type { Client } from "./harness/client.ts";
import { seedBackup, seedInstance, seedServer, seedSso, SSO_BODY } from "./harness/seed.ts";

let me: TestAccount;
/** Tokens are created by people. */
let session: Client;
beforeAll(async () => {
  me = await account();
  session = await me.session();
});

const Listed = z.array(z.looseObject({ id: z.string() }));

describe("names in other scripts", () => {
  test("a domain is stored in ASCII, shown both ways, unique in either, and found by both", async () => {
    const server = await seedServer(me.id);
    const instance = await seedInstance(me.id, { server_id: server.id });
    const body = {
      name: "Müller",
      server_id: server.id,
      erp_version: "19.0",
      edition: "community",
      database_name: uniqueDatabase(),
    };
    const created = await me.api.post("/instances", { ...body, admin_email: "ich@bücher.example", domain: "Müller.example.com" });
    expect(created.body).toMatchObject({
      data: {
        domain: "xn--mller-kva.example.com",
        domain_unicode: "müller.example.com",
        url: "https://xn--mller-kva.example.com",
        admin_email: "ich@xn--bcher-kva.example",
        admin_email_unicode: "ich@bücher.example",
        dns_record: { name: "xn--mller-kva.example.com" },
      },
    });
    for (const domain of ["xn--mller-kva.example.com", "mu\u0308ller。example.com"])
      expect((await me.api.put(`/instances/${instance.id}`, { domain })).error).toMatchObject({ details: { field: "domain" } });
    for (const search of ["müller.ex", "muller.example", "xn--mller"])
      expect((await me.api.get(`/instances?search=${encodeURIComponent(search)}`)).as(Listed)).toHaveLength(1);
    expect((await me.api.get(`/instances/${instance.id}`)).body).toMatchObject({
      data: { domain_unicode: instance.domain },
    });
    const previous = { domain: "xn--strae-oqa.example.com", redirects_until: "2999-01-01T00:00:00.000Z" };
    const moved = await seedInstance(me.id, { server_id: server.id, previous_domains: [previous] });
    expect((await me.api.get(`/instances/${moved.id}`)).body).toMatchObject({
      data: { previous_domains: [{ ...previous, domain_unicode: "straße.example.com" }] },
    });
  });

  test.each([
    "müller",
    "mü ller.example.com",
    "mü/ller.example.com",
    "-ü.exa_mple.com",
    "１.２.３.４",
    "ü.example.com:80",
    "x@ü.example.com",
  ])("%s is no domain", async (domain) => {
    const { id } = await seedInstance(me.id);
    expect((await me.api.put(`/instances/${id}`, { domain })).error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "domain" },
    });
  });

  test("a server's name is a host label in ASCII, and shown both ways", async () => {
    const { id } = await seedServer(me.id);
    expect((await me.api.put(`/servers/${id}`, { name: "münchen-1" })).body).toMatchObject({
      data: { name: "xn--mnchen-1-65a", name_unicode: "münchen-1" },
    });
    expect((await me.api.get("/servers?search=m%C3%BCnchen")).as(Listed)).toMatchObject([{ id }]);
    expect((await me.api.put(`/servers/${id}`, { name: "mün.chen" })).status).toBe(422);
    const instance = await seedInstance(me.id, { server_id: id });
    const server = { name: "xn--mnchen-1-65a", name_unicode: "münchen-1" };
    expect((await me.api.get(`/instances/${instance.id}`)).body).toMatchObject({ data: { server } });
    expect((await me.api.get(`/instances?server_id=${id}`)).body).toMatchObject({ data: [{ server }] });
  });

  test("the contact's email may have an international domain", async () => {
    expect((await me.api.put("/settings", { contact_email: "ops@日本語.jp" })).body).toMatchObject({
      data: { contact_email: "ops@xn--wgv71a119e.jp", contact_email_unicode: "ops@日本語.jp" },
    });
    expect((await me.api.put("/settings", { contact_email: "öps@example.com" })).status).toBe(422);
  });
});

test("a domain of single sign-on is shown both ways, and verified by either", async () => {
  const [name, name_unicode] = ["xn--brger-kva.example.com", "bürger.example.com"];
  await seedSso(me.id);
  const set = (await session.put("/settings/sso", { ...SSO_BODY, domains: [{ name: name_unicode }] })).as(Sso);
  expect(set.domains).toMatchObject([{ name, name_unicode }]);
  const txt = set.domains.map(({ txt_record }) => txt_record);
  expect((await me.api.put(`/sandbox/dns/${encodeURIComponent(name_unicode)}`, { txt })).body).toMatchObject({ data: { name } });
  const verified = await session.post(`/settings/sso/domains/${encodeURIComponent(name_unicode)}/verify`, {});
  expect(verified.body).toMatchObject({ data: { name, name_unicode, verified: true } });
});

test("a person's email is shown both ways, invited and as a user", async () => {
  const invited = await session.post("/users/invitations", { email: "ada@bücher.example", role: "viewer" });
  const both = { email: "ada@xn--bcher-kva.example", email_unicode: "ada@bücher.example" };
  expect(invited.body).toMatchObject({ data: both });
  expect((await session.get("/users/invitations")).as(Listed)).toMatchObject([both]);
  const email = `${unique("ada").toLowerCase()}@xn--bcher-kva.example`;
  const user = { email, name: "Ada", password: "correct-horse-battery" };
  await createUser(me.id, user);
  const addresses = { email, email_unicode: email.replace("xn--bcher-kva", "bücher") };
  expect((await (await me.session(user)).get("/auth/me")).body).toMatchObject({ data: { user: addresses } });
  expect((await me.api.get("/users")).as(Listed)).toContainEqual(expect.objectContaining(addresses));
});

describe("times", () => {
  test.each([
    ["2030-01-31T01:00:00+01:00", "2030-01-31T00:00:00.000Z"],
    ["2030-01-30t19:30:00.5-04:30", "2030-01-31T00:00:00.500Z"],
    ["2030-01-31T00:00:00.123456789z", "2030-01-31T00:00:00.124Z"],
    ["2030-01-31T00:00:00.123000000Z", "2030-01-31T00:00:00.123Z"],
  ])("%s is %s, in a body and in a query", async (written, stored) => {
    const body = { name: unique("token"), permissions: ["servers:read"], expires_at: written };
    expect((await session.post("/tokens", body)).body).toMatchObject({ data: { expires_at: stored } });
    const other = await account();
    await seedServer(other.id, { created_at: stored });
    const total = async (query: string) => (await other.api.get(`/servers?${query}`)).meta?.total;
    expect(await total(`created_after=${encodeURIComponent(written)}`)).toBe(1);
    expect(await total(`created_after=${written}`)).toBe(1); // its plus sign arrives as a space
    expect(await total(`created_before=${encodeURIComponent(written)}`)).toBe(0);
  });

  test.each([
    "2030-02-30T00:00:00Z",
    "2030-01-31T24:00:00Z",
    "2030-01-31T00:00:00",
    "2030-01-31T00:00:00.1234567890Z",
    "0000-01-01T00:00:00+23:59",
  ])("%s is no time", async (written) => {
    const body = { name: unique("token"), permissions: ["servers:read"], expires_at: written };
    expect((await session.post("/tokens", body)).error).toMatchObject({ details: { field: "expires_at" } });
    expect((await me.api.get(`/events?created_after=${encodeURIComponent(written)}`)).error).toMatchObject({
      details: { field: "created_after" },
    });
  });
});

describe("bodies", () => {
  const post = async (body: string, headers: Record<string, string> = {}) =>
    (await me.token()).api.send("POST", "/ssh-keys", Buffer.from(body), { headers });

  test("a byte order mark before a body is ignored, in it it is not", async () => {
    const name = `\ufeff${JSON.stringify({ name: "key", public_key: "x" })}`;
    expect((await post(name)).error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "public_key" } });
    expect((await post(`{\ufeff"name":"key"}`)).error).toMatchObject({ code: "MALFORMED_REQUEST" });
  });

  test.each(["br", "zstd", "compress", "gzip, br"])("Content-Encoding: %s is 415", async (coding) => {
    expect((await post("{}", { "content-encoding": coding })).error).toMatchObject({
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "Content-Encoding must be gzip, deflate or identity",
    });
  });
});

test("HEAD of a download has the status of GET and writes no event", async () => {
  const backup = await seedBackup(await seedInstance(me.id));
  const downloads = async () => (await me.api.get(`/events?type=backup.download&resource_id=${backup.id}`)).meta?.total;
  expect((await me.api.send("HEAD", `/backups/${backup.id}/download`)).status).toBe(200);
  expect(await downloads()).toBe(0);
  expect((await me.api.get(`/backups/${backup.id}/download`)).status).toBe(200);
  expect(await downloads()).toBe(1);
});

test("the flag of England may be in a note, and hidden tags may not", async () => {
  const other = await account();
  const { id } = await seedBackup(await seedInstance(other.id));
  const noteOf = async (note: string) => other.api.put(`/backups/${id}`, { note });
  expect((await noteOf("🏴󠁧󠁢󠁥󠁮󠁧󠁿 shop")).body).toMatchObject({ data: { note: "🏴󠁧󠁢󠁥󠁮󠁧󠁿 shop" } });
  for (const hidden of ["sh\u{e0067}\u{e007f}op", "🏴\u{e0067}\u{e0062}", "🏴󠁧󠁢󠁥󠁮󠁧󠁿\u{e0067}"])
    expect((await noteOf(hidden)).error).toMatchObject({ details: { field: "note" } });
});

test("names that look the same are the same where they must be unique; case is significant, and a name is free again", async () => {
  const create = (name: string) => session.post("/tokens", { name, permissions: ["servers:read"] });
  const first = (await create("Café  ＣＩ")).as(z.looseObject({ id: z.string() }));
  for (const name of ["Café CI", "Cafe\u0301 CI", "Café\u00a0CI", "Ca\u200dfé CI", "Cafe\u200d\u0301 CI", "Café \u2003 CI"])
    expect((await create(name)).error, name).toMatchObject({ code: "CONFLICT", details: { field: "name" } });
  expect((await create("café CI")).status).toBe(201);
  await session.delete(`/tokens/${first.id}`);
  expect((await create("Café CI")).status).toBe(201);
  expect(uniqueForm(" A\u200c\u2060 \u3000B ")).toBe("A B");
});
