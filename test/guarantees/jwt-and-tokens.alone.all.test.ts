// Forged and damaged credentials. Each is presented to the authorizer; those that a client can send, over HTTP too.
import { createHmac, randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { expect } from "vitest";
import { toGatewayResource } from "../../shared/api/index.ts";
import { newTokenValue } from "../../shared/domain/token-value.ts";
import { keyVersions } from "../../shared/platform/secrets.ts";
import { account, unusedId } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { ATTACK_KEY, authorize } from "./authorizer.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const effectOf = async (authorization: string): Promise<string | undefined> => {
  const { policyDocument } = await authorize({ httpMethod: "GET", resource: toGatewayResource("/settings"), authorization });
  const [statement] = policyDocument.Statement;
  return statement?.Effect;
};

const encode = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const PAST = 1_600_000_000;
const FUTURE = 4_000_000_000;
/** Presented at once. */
const FLIPS = 25;

process.env["ORIGIN_KEYS"] = ATTACK_KEY;

prove("jwt-and-tokens", async () => {
  const me = await account();
  const { current } = await keyVersions("SESSION_KEY");
  const user = await me.anotherUser();
  const jwt = (await me.session(user)).token ?? "";
  const other = (await me.session(await me.anotherUser())).token ?? "";
  const token = await me.token();
  const [head = "", payload = "", signature = ""] = jwt.split(".");
  const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, "base64url").toString());
  const claims = read(payload);
  const header = read(head);

  const signed = async (changes: { claims?: object; header?: object; key?: Uint8Array }): Promise<string> =>
    new SignJWT({ ...claims, ...changes.claims })
      .setProtectedHeader({ ...header, alg: "HS256", ...changes.header })
      .sign(changes.key ?? current.key);
  /** Signed by hand with the right key, for headers that a library does not write. */
  const byHand = (headerText: unknown, payloadText: unknown = payload): string => {
    const text = `${typeof headerText === "string" ? headerText : encode(headerText)}.${typeof payloadText === "string" ? payloadText : encode(payloadText)}`;
    return `${text}.${createHmac("sha256", current.key).update(text).digest("base64url")}`;
  };
  const none = (alg: string): string => `${encode({ ...header, alg })}.${payload}.`;
  const publicKey = encode({ kty: "oct", k: Buffer.from(current.key).toString("base64url") });

  const kinds: Record<string, () => Promise<string> | string> = {
    "alg none": () => none("none"),
    "alg None": () => none("None"),
    "alg NONE": () => none("NONE"),
    "alg missing": () => byHand({ ...header, alg: undefined }),
    "alg empty": () => byHand({ ...header, alg: "" }),
    "alg none with the signature": () => `${encode({ ...header, alg: "none" })}.${payload}.${signature}`,
    "alg HS384": () => signed({ header: { alg: "HS384" }, key: new Uint8Array(randomBytes(48)) }),
    "alg HS512": () => signed({ header: { alg: "HS512" }, key: new Uint8Array(randomBytes(64)) }),
    "alg RS256": () => byHand({ ...header, alg: "RS256" }),
    "alg ES256": () => byHand({ ...header, alg: "ES256" }),
    "alg in lowercase": () => byHand({ ...header, alg: "hs256" }),
    "alg a list": () => byHand({ ...header, alg: ["HS256"] }),
    "kid unknown": () => signed({ header: { kid: "another" } }),
    "kid missing": () => byHand({ ...header, kid: undefined }),
    "kid a path": () => byHand({ ...header, kid: "../../dev/null" }),
    "kid of a prototype": () => byHand({ ...header, kid: "__proto__" }),
    "kid an object": () => byHand({ ...header, kid: { toString: "x" } }),
    "kid empty": () => byHand({ ...header, kid: "" }),
    "jwk with its own key": () => signed({ header: { kid: "own", jwk: { kty: "oct", k: publicKey } }, key: new Uint8Array(32) }),
    "jku elsewhere": () => signed({ header: { kid: "own", jku: "http://127.0.0.1:9/keys" }, key: new Uint8Array(32) }),
    "x5u elsewhere": () => signed({ header: { kid: "own", x5u: "http://127.0.0.1:9/cert" }, key: new Uint8Array(32) }),
    "crit unknown": () => byHand({ ...header, crit: ["x"], x: true }),
    "crit empty": () => byHand({ ...header, crit: [] }),
    "b64 false": () => byHand({ ...header, crit: ["b64"], b64: false }),
    zip: () => byHand({ ...header, zip: "DEF" }),
    "typ another": () => byHand({ ...header, typ: "at+jwt" }),
    "signature empty": () => `${head}.${payload}.`,
    "signature missing": () => `${head}.${payload}`,
    "signature of another session": () => `${head}.${payload}.${other.split(".")[2]}`,
    "payload of another session": () => `${head}.${other.split(".")[1]}.${signature}`,
    "signature with an empty key": () => signed({ key: new Uint8Array(1) }),
    "signature padded": () => `${jwt}=`,
    "four parts": () => `${jwt}.${signature}`,
    "five parts, encrypted": () => `${head}..${payload}.${signature}.${signature}`,
    "white space within": () => `${head}. ${payload}.${signature}`,
    "exp passed": () => signed({ claims: { exp: PAST } }),
    "exp missing": () => signed({ claims: { exp: undefined } }),
    "exp as text": () => byHand({ ...header }, { ...claims, exp: String(FUTURE) }),
    "exp null": () => byHand({ ...header }, { ...claims, exp: null }),
    "nbf in the future": () => signed({ claims: { nbf: FUTURE } }),
    "nbf as text": () => byHand({ ...header }, { ...claims, nbf: "0" }),
    "iss another": () => signed({ claims: { iss: "someone" } }),
    "iss missing": () => signed({ claims: { iss: undefined } }),
    "aud of the other environment": () => signed({ claims: { aud: "live" } }),
    "aud missing": () => signed({ claims: { aud: undefined } }),
    "aud a list with another": () => signed({ claims: { aud: ["live"] } }),
    "sid of no session": () => signed({ claims: { sid: unusedId("session") } }),
    "sid of another user's session": () => signed({ claims: { sid: read(other.split(".")[1] ?? "")["sid"] } }),
    "sid missing": () => signed({ claims: { sid: undefined } }),
    "sid of a prototype": () => signed({ claims: { sid: "__proto__" } }),
    "sub of another user": () => signed({ claims: { sub: unusedId("user") } }),
    "sub missing": () => signed({ claims: { sub: undefined } }),
    "claims a list": () => byHand({ ...header }, [claims]),
    "claims no JSON": () => byHand({ ...header }, encode("none")),
    "a token of the other environment": () => newTokenValue("live"),
    "a token under the other environment's prefix": () => token.value.replace("svc_test_", "svc_live_"),
    "a token never issued": () => newTokenValue("test"),
    "a token in another case": () => token.value.toUpperCase(),
    "a token with a suffix": () => `${token.value}0`,
    "a token cut short": () => token.value.slice(0, -1),
    "a token without its prefix": () => token.value.replace("svc_test_", ""),
    "a token that is its own hash": () => createHmac("sha256", "").update(token.value).digest("hex"),
  };

  async function flips(random: Random): Promise<number> {
    const texts = Array.from({ length: FLIPS }, () => {
      const bytes = Buffer.from(random.chance(0.7) ? jwt : token.value, "latin1");
      const bit = random.below(bytes.length * 8);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return bytes.toString("latin1");
    });
    const effects = await Promise.all(texts.map((text) => effectOf(`Bearer ${text}`)));
    for (const [index, effect] of effects.entries()) expect(effect, `accepted: ${JSON.stringify(texts[index])}`).toBe("Deny");
    const sendable = texts.filter((text) => /^[\x20-\x7e]+$/.test(text)).slice(0, 5);
    const responses = await Promise.all(sendable.map((text) => anonymous.get("/auth/me", { token: text })));
    for (const { status } of responses) expect(status).toBe(401);
    return FLIPS;
  }

  const FLIPPED = "single bits are flipped";
  return {
    points: [...Object.keys(kinds), ...Array.from({ length: Object.keys(kinds).length }, (_, i) => `${FLIPPED} ${i}`)],
    trial: async ({ point, random, counts }) => {
      // The real ones are accepted: otherwise nothing would be proven.
      if (random.chance(0.05)) for (const value of [jwt, token.value]) expect(await effectOf(`Bearer ${value}`)).toBe("Allow");
      const kind = kinds[point];
      if (kind === undefined) return counts(await flips(random));
      const text = await kind();
      expect(await effectOf(`Bearer ${text}`), `accepted: ${text}`).toBe("Deny");
      expect((await anonymous.get("/auth/me", { token: text })).status).toBe(401);
    },
  };
});
