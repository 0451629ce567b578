// An identity provider of the test environment on one machine, so that single sign-on works without an account anywhere: anybody
// who opens its page signs in as whom they choose. Some of its people show what the service does not accept.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import * as z from "zod";
import { HOUR_SECONDS } from "../../shared/domain/durations.ts";

type Claims = Record<string, unknown>;

export interface Person {
  email: string;
  email_verified: boolean;
  name: string;
  groups: readonly string[];
  /** What their ID token says otherwise. */
  changed?: (claims: Claims) => Claims;
  /** How it is signed otherwise. */
  sign?: (claims: Claims, key: CryptoKey) => Promise<string>;
}

type People = Readonly<Record<string, Person>>;

const person = (domain: string, id: string, more: Partial<Person> = {}): Person => ({
  email: `${id}@${domain}`,
  email_verified: true,
  name: `${id.charAt(0).toUpperCase()}${id.slice(1)} Example`,
  groups: [],
  ...more,
});

const inSeconds = (): number => Math.floor(Date.now() / 1000);

export const examplePeople = (domain: string): People => ({
  ann: person(domain, "ann", { groups: ["admins"] }),
  bob: person(domain, "bob"),
  "unverified-email": person(domain, "unverified-email", { email_verified: false }),
  "wrong-nonce": person(domain, "wrong-nonce", { changed: (claims) => ({ ...claims, nonce: "of another sign-in" }) }),
  expired: person(domain, "expired", {
    changed: (claims) => ({ ...claims, iat: inSeconds() - 2 * HOUR_SECONDS, exp: inSeconds() - HOUR_SECONDS }),
  }),
});

export interface IdentityProvider {
  issuer: string;
  client_id: string;
  client_secret: string;
  stop: () => Promise<void>;
}

interface Options {
  /** Undefined, or taken: any free one. */
  port?: number | undefined;
  clientSecret: string;
  people: People;
}

const CLIENT_ID = "erp-control-plane";

/** What somebody has signed in for, until the service asks for it. */
interface Grant {
  person: string;
  nonce: string;
  codeChallenge: string;
  redirectUri: string;
}

export async function startIdentityProvider({ port, clientSecret, people }: Options): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" }] };
  const grants = new Map<string, Grant>();
  let issuer = "";
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const route = `${request.method} ${url.pathname}`;
    if (route === "GET /.well-known/openid-configuration") reply(response, 200, configuration(issuer));
    else if (route === "GET /keys") reply(response, 200, keySet);
    else if (route === "GET /authorize") authorize(url, response, { issuer, people, grants });
    else if (route !== "POST /token") refuse(response, 404, "No such page");
    else if (!isClient(request, clientSecret)) reply(response, 401, { error: "invalid_client" });
    else
      void giveTokens(request, response, (grant) => makeIdToken(issuer, grant, people, privateKey), grants).catch(() =>
        response.destroy(),
      );
  });
  issuer = `http://127.0.0.1:${await listen(server, port)}`;
  return {
    issuer,
    client_id: CLIENT_ID,
    client_secret: clientSecret,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      if (server.listening) await once(server, "close");
    },
  };
}

const configuration = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  token_endpoint_auth_methods_supported: ["client_secret_basic"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
});

interface Provided {
  issuer: string;
  people: People;
  grants: Map<string, Grant>;
}

/** Shows the people to sign in as or, once one is chosen, redirects back. */
function authorize(url: URL, response: ServerResponse, { issuer, people, grants }: Provided): void {
  const authorization = Authorization.safeParse(Object.fromEntries(url.searchParams)).data;
  if (authorization === undefined) return refuse(response, 400, "Not a request of single sign-on");
  if (authorization.as === undefined || !Object.hasOwn(people, authorization.as)) return showPeople(url, people, response);
  const code = randomBytes(24).toString("base64url");
  const { as, nonce, code_challenge: codeChallenge, redirect_uri: redirectUri, state } = authorization;
  grants.set(code, { person: as, nonce, codeChallenge, redirectUri });
  const back = new URL(redirectUri);
  for (const [name, value] of Object.entries({ code, state, iss: issuer })) back.searchParams.set(name, value);
  response.writeHead(303, { location: back.href }).end();
}

/** What a code was given out for, once; undefined unless whoever has it began the sign-in. */
async function exchange(request: IncomingMessage, grants: Map<string, Grant>): Promise<Grant | undefined> {
  const form = new URLSearchParams(await readText(request));
  const code = form.get("code") ?? "";
  const grant = grants.get(code);
  grants.delete(code);
  const proven = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  return grant?.codeChallenge === proven && grant.redirectUri === form.get("redirect_uri") ? grant : undefined;
}

async function giveTokens(
  request: IncomingMessage,
  response: ServerResponse,
  make: (grant: Grant) => Promise<string>,
  grants: Map<string, Grant>,
): Promise<void> {
  const grant = await exchange(request, grants);
  if (grant === undefined) reply(response, 400, { error: "invalid_grant" });
  else reply(response, 200, { token_type: "Bearer", access_token: "unused", id_token: await make(grant) });
}

async function makeIdToken(issuer: string, { person: sub, nonce }: Grant, people: People, key: CryptoKey): Promise<string> {
  const { changed = (claims) => claims, sign = signUsually, ...facts } = people[sub] ?? person("", sub);
  const times = { iat: inSeconds(), exp: inSeconds() + HOUR_SECONDS };
  return sign(changed({ iss: issuer, sub, aud: CLIENT_ID, nonce, ...times, ...facts }), key);
}

const Authorization = z.object({
  client_id: z.literal(CLIENT_ID),
  response_type: z.literal("code"),
  // Nobody is sent anywhere but to a dashboard on this machine.
  redirect_uri: z.string().regex(/^http:\/\/(?:localhost|127\.0\.0\.1):\d+\/sso$/),
  state: z.string(),
  nonce: z.string(),
  code_challenge: z.string(),
  code_challenge_method: z.literal("S256"),
  as: z.string().optional(),
});

const signUsually = (claims: Claims, key: CryptoKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "1", typ: "JWT" }).sign(key);

function isClient({ headers }: IncomingMessage, clientSecret: string): boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${CLIENT_ID}:${clientSecret}`).toString("base64")}`);
  const actual = Buffer.from(headers.authorization ?? "");
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

const FORM_BYTES_MAX = 16_384;

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > FORM_BYTES_MAX) throw new Error("The request is too long");
  }
  return text;
}

const reply = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(body));

const refuse = (response: ServerResponse, status: number, message: string): void =>
  void response.writeHead(status, { "content-type": "text/plain" }).end(message);

/** A page without a script: each person is a link. */
function showPeople(url: URL, people: People, response: ServerResponse): void {
  const links = Object.entries(people).map(([id, { email }]) => {
    const chosen = new URL(url);
    chosen.searchParams.set("as", id);
    return `<li><a href="${escape(chosen.pathname + chosen.search)}">${escape(id)}</a> ${escape(email)}</li>`;
  });
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    "cache-control": "no-store",
  }).end(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Identity provider</title>
<style>
:root { color-scheme: light dark; }
body { max-width: 30rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>Identity provider</h1>
<p>Of the test environment on this machine. Sign in as:</p>
<ul>
${links.join("\n")}
</ul>
</main>
</body>
</html>
`);
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

async function listen(server: ReturnType<typeof createServer>, requestedPort = 0): Promise<number> {
  try {
    server.listen(requestedPort, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    if (requestedPort === 0) throw error;
    return listen(server); // another program has taken it
  }
  return z.object({ port: z.number() }).parse(server.address()).port;
}
