// Every token, password and key that a run issues or receives, searched for wherever data rests.
import { randomBytes } from "node:crypto";
import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { unzipSync } from "fflate";
import { expect } from "vitest";
import * as z from "zod";
import { examplePeople, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import * as auth from "../../shared/api/auth.ts";
import * as instances from "../../shared/api/instances.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import * as tokens from "../../shared/api/tokens.ts";
import * as webhooks from "../../shared/api/webhooks.ts";
import { account, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { newestLink } from "../harness/links.ts";
import {
  appOf,
  bytesOfSecret,
  challengeFor,
  newAddress,
  newCodes,
  prove as sendProof,
  sessionIn,
} from "../harness/second-factors.ts";
import { come, finish, sessionOf, setUpSso } from "../harness/sso.ts";
import { everyItem } from "../harness/table.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const Operation = z.looseObject({ operation_id: z.string() });

/** Returns a secret as text, and as it would look in base64 and in a URL, at any offset. */
const formsOf = (secret: string): string[] => {
  const shifted = ["", "a", "ab"].map((before) =>
    Buffer.from(before + secret)
      .toString("base64")
      .slice(4, -4),
  );
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    ...shifted,
    Buffer.from(secret).toString("hex"),
  ];
};

type Know = (name: string, secret: string | undefined | null) => string;

/** The links in mails, second factors, and single sign-on. */
async function admitPeople(me: TestAccount, know: Know): Promise<void> {
  const owner = await me.session();
  const invited = `${unique("invited")}@example.com`;
  await owner.post(
    "/users/invitations",
    { email: invited, role: "viewer" },
    { headers: { "idempotency-key": unique("secret") } },
  );
  know("the link of an invitation", await newestLink(me.id, "invitation", invited));
  await anonymous.post("/auth/password-reset", { email: me.user.email }, { from: newAddress() });
  know("the link to set a password", await newestLink(me.id, "password_reset", me.user.id));

  const user = await me.anotherUser();
  know("a user's password", user.password);
  const session = await me.session(user);
  const { secret } = (await session.post("/auth/second-factors/totp", {})).as(secondFactors.beginTotp().data);
  know("the secret of an authenticator app", secret);
  know("the bytes of that secret", Buffer.from(bytesOfSecret(secret)).toString("base64"));
  await session.post("/auth/second-factors/totp/confirm", { code: appOf(secret).code() });
  const [code = "", unused = ""] = await newCodes(session);
  const { challenge } = await challengeFor(user);
  const signedIn = await sendProof({ challenge, method: "recovery_code", code });
  for (const [name, each] of Object.entries({ "a recovery code": unused, "a used recovery code": code })) {
    know(name, each);
    know(`${name}, without hyphens`, each.replaceAll("-", ""));
  }
  know("a session by a recovery code", sessionIn(signedIn).token?.split(".")[2]);

  const domain = uniqueDomain();
  const clientSecret = know("a client secret", randomBytes(18).toString("hex"));
  const provider = await startIdentityProvider({ clientSecret, people: examplePeople(domain) });
  await setUpSso(me, provider, domain);
  const { tab, callback } = await come(`ann@${domain}`, "ann");
  know("the secret of a tab", tab.secret);
  know("a provider's code", callback.code);
  know("a session by single sign-on", sessionOf(await finish(callback, tab)).token?.split(".")[2]);
  await provider.stop();
}

/** The whole life of credentials in a new account; returns the secrets. */
async function live(cloud: TestCloud, random: Random): Promise<Map<string, string>> {
  const secrets = new Map<string, string>();
  const know: Know = (name, secret) => {
    if (typeof secret !== "string" || secret.length < 8) throw new Error(`There is no ${name}`);
    secrets.set(name, secret);
    return secret;
  };
  const me = await account({ seeded: true });
  know("the user's password", me.user.password);
  know("the harness's token", (await me.token()).value);
  const session = await me.session();
  know("the session", session.token?.split(".")[2]);
  await admitPeople(me, know);
  const keyed = () => ({ headers: { "idempotency-key": unique("secret") } });
  const token = (await session.post("/tokens", { name: unique("token"), permissions: ["servers:read"] }, keyed())).as(
    tokens.create().data,
  );
  know("a token of the API", token.token.slice(9));

  const hook = { name: unique("hook"), url: "https://flaky.example/", events: ["settings.update"] };
  const webhook = (await me.api.post("/webhooks", hook, keyed())).as(webhooks.WithSecret);
  know("the secret of a webhook", webhook.secret?.slice("whsec_".length));
  const rotated = (await me.api.post(`/webhooks/${webhook.id}/rotate-secret`, {}, keyed())).as(webhooks.WithSecret);
  know("the next secret of a webhook", rotated.secret?.slice("whsec_".length));
  const path = know("the URL of a chat", randomBytes(12).toString("hex"));
  const chat = { ...hook, name: unique("chat"), url: `https://flaky.example/${path}`, format: "slack" };
  const { id: chatId } = (await me.api.post("/webhooks", chat, keyed())).as(webhooks.WithSecret);
  for (const each of [webhook.id, chatId]) await me.api.post(`/webhooks/${each}/test`, {});

  const wrong = know("a wrong password", `wrong ${randomBytes(9).toString("hex")}`);
  await anonymous.post("/auth/login", { email: me.user.email, password: wrong }, { from: `127.0.${1 + random.below(200)}.7` });
  // People also send secrets by mistake, where they do not belong: an email, a name, a path, a query, a key, a header. This
  // sign-in comes from elsewhere, because an address may fail fifty times in a quarter of an hour.
  const mistaken = { email: know("a password as the email", `pw${randomBytes(9).toString("hex")}`), password: wrong };
  await anonymous.post("/auth/login", mistaken, { from: `127.0.${1 + random.below(200)}.9` });
  await me.api.get(`/servers/${know("a token in the path", randomBytes(12).toString("hex"))}`);
  await me.api.get(`/servers?token=${know("a token in the query", randomBytes(12).toString("hex"))}`);
  await anonymous.get("/servers", {
    token: know("a token that was never issued", `svc_test_${randomBytes(16).toString("hex")}`),
  });
  await me.api.post("/ssh-keys", {
    name: "Key",
    public_key: `-----BEGIN OPENSSH PRIVATE KEY-----${know("a private key by mistake", randomBytes(20).toString("hex"))}`,
  });

  const created = await me.api.post("/instances", await me.instanceBody(), keyed());
  know("a generated password", created.as(instances.create().data).admin_password);
  await me.until(created.as(Operation).operation_id);
  const { id } = created.as(z.looseObject({ id: z.string() }));
  const backup = await me.backup(id);
  const clonePassword = know("the password of a clone", `chosen ${randomBytes(9).toString("hex")}`);
  const clone = await me.api.post(
    `/instances/${id}/clone`,
    { name: "Copy", domain: uniqueDomain(), backup_id: backup.id, admin_password: clonePassword },
    keyed(),
  );
  await me.until(clone.as(Operation).operation_id);
  const failing = know("the password of a creation that fails", `chosen ${randomBytes(9).toString("hex")}`);
  await me.api.post(`/instances/${id}/clone`, {
    name: "Copy",
    domain: `fail-install.${uniqueDomain()}`,
    backup_id: backup.id,
    admin_password: failing,
  });
  await cloud.states.settled();

  const changed = know("the new password", `new ${randomBytes(9).toString("hex")}`);
  await session.put("/auth/password", { current_password: me.user.password, new_password: changed });
  const again = await anonymous.post(
    "/auth/login",
    { email: me.user.email, password: changed },
    { from: `127.0.${1 + random.below(200)}.8` },
  );
  know("the session after it", again.as(auth.login().data).token.split(".")[2]);
  return secrets;
}

prove("secrets", async () => {
  const cloud = await ownCloud({ timeScale: 0, environment: { LOOPBACK_RECEIVERS: "true" } });
  const { accessKeyId, secretAccessKey } = cloud.operator;
  const s3 = new S3Client({
    endpoint: cloud.awsUrl,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  /** What goes into the tasks of executions, and what comes out: their histories. */
  const histories: string[] = [];
  cloud.states.intercept(async (call, next) => {
    histories.push(JSON.stringify(call.payload));
    try {
      const result = await next(call);
      histories.push(JSON.stringify(result) ?? "");
      return result;
    } catch (error) {
      histories.push(error instanceof Error ? `${error.name} ${error.message} ${error.stack}` : String(error));
      throw error;
    }
  });

  async function objects(): Promise<string[]> {
    const texts: string[] = [];
    for (const { name: Bucket } of cloud.template.buckets)
      for (const { Key = "" } of (await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []) {
        const { Body, Metadata } = await s3.send(new GetObjectCommand({ Bucket, Key }));
        const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
        texts.push(Key, JSON.stringify(Metadata), Buffer.from(bytes).toString("latin1"));
        texts.push(...Object.values(unzipSync(bytes)).map((file) => Buffer.from(file).toString("latin1")));
      }
    return texts;
  }

  return {
    trial: async ({ random, counts, reached }) => {
      histories.length = 0;
      const secrets = await live(cloud, random);
      const places: Record<string, readonly string[]> = {
        table: await everyItem(),
        "object store": await objects(),
        logs: [...cloud.template.functions.flatMap(({ name }) => cloud.lambda.logs(name)), ...cloud.log],
        "inputs of executions": cloud.states.executions().map((execution) => JSON.stringify(execution)),
        "histories of executions": histories,
      };
      for (const [place, texts] of Object.entries(places)) {
        expect(texts.length, `there is nothing to search in: ${place}`).toBeGreaterThan(0);
        for (const [name, secret] of secrets) {
          reached(`${name} in the ${place}`);
          for (const form of formsOf(secret))
            expect(
              texts.filter((text) => text.includes(form)),
              `${name} is in the ${place}`,
            ).toEqual([]);
        }
      }
      counts(secrets.size * Object.keys(places).length);
    },
  };
});
