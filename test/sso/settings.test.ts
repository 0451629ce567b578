// GET, PUT, DELETE /settings/sso and POST /settings/sso/domains/:name/verify, and what `required` closes
import { beforeAll, describe, expect, test } from "vitest";
import { Sso, SsoDomain } from "../../shared/api/sso.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { newAddress } from "../harness/second-factors.ts";
import { seedSso, SSO_BODY } from "../harness/seed.ts";
import { createUser } from "../../shared/operations/accounts/operator.ts";
import { newTab, start, verifyDomain } from "../harness/sso.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

describe("the settings", () => {
  test("are 404 where none are set, and take back what they show", async () => {
    expect((await owner.get("/settings/sso")).status).toBe(404);
    expect((await owner.delete("/settings/sso")).status).toBe(404);
    await seedSso(me.id);
    const set = (await owner.put("/settings/sso", { ...SSO_BODY, role_claim: "groups", roles: { a: "admin" } })).as(Sso);
    expect(set).toMatchObject({ default_role: "viewer", required: false, roles: { a: "admin" } });
    expect(set.domains).toMatchObject([{ name: "people.example.com", verified: false }]);
    expect(set.domains[0]?.txt_record).toMatch(new RegExp(`^erp-sso=${me.id}\\.[A-Za-z0-9_-]{24}$`));
    expect(set.redirect_uri).toMatch(/^http:\/\/localhost:\d+\/sso$/);
    expect((await owner.get("/settings/sso")).as(Sso)).toEqual(set);
    expect((await owner.delete("/settings/sso")).status).toBe(200);
    expect((await owner.get("/settings/sso")).status).toBe(404);
  });

  test("are an owner's, in a session", async () => {
    const admin = await me.session(await me.anotherUser({ role: "admin" }));
    for (const response of [
      await admin.get("/settings/sso"),
      await admin.put("/settings/sso", SSO_BODY),
      await admin.delete("/settings/sso"),
      await admin.post("/settings/sso/domains/example.com/verify", {}),
    ])
      expect(response.error).toMatchObject({ code: "FORBIDDEN", message: "This action needs the role owner" });
    expect((await me.api.get("/settings/sso")).error?.message).toBe("This endpoint needs a dashboard session");
  });

  test.each([
    [{ default_role: "owner" }, "default_role", "must be one of: admin, operator, viewer"],
    [{ role_claim: "groups", roles: { everybody: "owner" } }, "roles.everybody", "must be one of: admin, operator, viewer"],
    [{ roles: { everybody: "admin" } }, "role_claim", "is required"],
    [{ domains: [{ name: "a.example" }, { name: "a.example" }] }, "domains", "must not contain duplicates"],
    [{ domains: [] }, "domains", "must contain at least one"],
    [{ domains: Array.from({ length: 11 }, (_, i) => ({ name: `${i}.example.com` })) }, "domains", "must contain at most 10"],
    [{ client_secret: "two words" }, "client_secret", "must be up to 1000 printable ASCII characters without spaces"],
    [{ issuer: "https://login.example.com?tenant=1" }, "issuer", "must be https"],
    [{ issuer: "https://127.0.0.1:8443", client_secret: "x" }, "issuer", "must not lead to a private address"],
  ])("%j is invalid", async (fields, field, reason) => {
    const response = await owner.put("/settings/sso", { ...SSO_BODY, ...fields });
    expect(response.error?.details).toMatchObject({ field, reason });
  });

  test("of changes, the audit log has all but the secret", async () => {
    await seedSso(me.id, { domains: [{ name: "old.example.com", proof: "p", verified: false }] });
    const id = "sso-changes";
    await owner.put("/settings/sso", { ...SSO_BODY, client_secret: "newer" }, { headers: { "x-request-id": id } });
    const events = (await me.api.get("/events?type=sso.update")).text;
    expect(events).toContain('{"field":"client_secret"}');
    expect(events).toContain('{"field":"domains","before":["old.example.com"],"after":["people.example.com"]}');
    expect(events).not.toContain("newer");
    await owner.delete("/settings/sso");
    const ended = (await me.api.get("/events?type=sso.delete")).text;
    expect(ended).toContain(`{"field":"issuer","before":"${SSO_BODY.issuer}","after":null}`);
    expect(ended).toContain('{"field":"client_secret"}');
  });
});

describe("a domain", () => {
  test("is verified by its TXT record, and is another account's only after it has gone", async () => {
    const name = uniqueDomain();
    await seedSso(me.id);
    const sso = (await owner.put("/settings/sso", { ...SSO_BODY, domains: [{ name }] })).as(Sso);
    const missing = await owner.post(`/settings/sso/domains/${name}/verify`, {});
    expect([missing.status, missing.error?.code, missing.error?.details]).toEqual([
      409,
      "INVALID_STATE",
      { status: "unverified" },
    ]);
    expect(await verifyDomain(owner, sso, name)).toMatchObject({ name, verified: true });
    expect((await owner.post(`/settings/sso/domains/${name}/verify`, {})).as(SsoDomain).verified).toBe(true);
    expect((await owner.post("/settings/sso/domains/no.example.com/verify", {})).status).toBe(404);

    const other = await account();
    const otherSession = await other.session();
    await seedSso(other.id);
    const otherSso = (await otherSession.put("/settings/sso", { ...SSO_BODY, domains: [{ name }] })).as(Sso);
    await otherSession.put(`/sandbox/dns/${name}`, { txt: [otherSso.domains[0]?.txt_record] });
    expect((await otherSession.post(`/settings/sso/domains/${name}/verify`, {})).error?.code).toBe("CONFLICT");
    await owner.put("/settings/sso", SSO_BODY);
    expect((await otherSession.post(`/settings/sso/domains/${name}/verify`, {})).as(SsoDomain).verified).toBe(true);
  });
});

describe("where single sign-on is required", () => {
  const REQUIRED = { code: "FORBIDDEN", message: "Sign in with single sign-on" };
  const name = uniqueDomain();
  const password = "a long enough password";
  beforeAll(async () => {
    await seedSso(me.id, { domains: [{ name, proof: "p", verified: true }], required: true });
    await createUser(me.id, { email: `owner@${name}`, name: "Owner", password });
    await createUser(me.id, { email: `viewer@${name}`, name: "Viewer", password, role: "viewer" });
  });

  test("a password signs nobody in, and no link sets one, whether or not there is such a user", async () => {
    for (const email of [`owner@${name}`, `viewer@${name}`, `nobody@${name}`, `OWNER@${name.toUpperCase()}`]) {
      const from = newAddress();
      const answers = [
        await anonymous.post("/auth/login", { email, password }, { from }),
        await anonymous.post("/auth/login", { email, password: "wrong" }, { from }),
        await anonymous.post("/auth/password-reset", { email }, { from }),
      ];
      for (const { status, error } of answers) expect([status, error], email).toEqual([403, REQUIRED]);
    }
  });
});

test("an email of no verified domain begins nothing", async () => {
  const response = await start(`somebody@${uniqueDomain()}`, newTab());
  expect([response.status, response.error?.code]).toEqual([404, "NOT_FOUND"]);
});
