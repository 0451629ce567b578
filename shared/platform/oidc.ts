// An identity provider by OpenID Connect: what it says about itself, what it gives for a code, and whether an ID token is its
// own. Everything is fetched through the guard of addresses that customers choose.
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWSAlgorithm } from "jose";
import * as z from "zod";
import { findUrlProblem, OutboundError, request } from "./outbound.ts";
import { MINUTE_MS } from "../domain/durations.ts";

type Guard = Parameters<typeof request>[1];

/** The provider is at fault, or cannot be reached: the message says how, and contains nothing that it sent. */
export class ProviderError extends Error {
  override name = "ProviderError";
}

/** What the provider says is not what it must be for this sign-in: no person follows from it. */
export class NotProven extends Error {
  override name = "NotProven";
}

const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  userinfo_endpoint: z.string().optional(),
  /** RFC 9207. */
  authorization_response_iss_parameter_supported: z.boolean().default(false),
  token_endpoint_auth_methods_supported: z.array(z.string()).default(["client_secret_basic"]),
});
type Metadata = z.infer<typeof Metadata>;

/** A sign-in takes four requests at most, within the 28 s that a function has. */
const TIMEOUT_MS = 5_000;
const BYTES_MAX = 256 * 1024;

interface Asked {
  url: string;
  headers?: Record<string, string>;
  form?: URLSearchParams;
}

async function fetchJson({ url, headers, form }: Asked, guard: Guard): Promise<{ status: number; body: unknown }> {
  try {
    const { status, excerpt } = await request(
      {
        url,
        headers: {
          accept: "application/json",
          ...headers,
          ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
        },
        ...(form !== undefined && { body: Buffer.from(form.toString()) }),
        timeoutMs: TIMEOUT_MS,
        keepBytes: BYTES_MAX,
        mustBeWhole: true,
      },
      guard,
    );
    return { status, body: JSON.parse(excerpt) };
  } catch (cause) {
    if (cause instanceof OutboundError) throw new ProviderError(cause.message, { cause });
    if (cause instanceof SyntaxError) throw new ProviderError("The response is not JSON", { cause });
    throw cause;
  }
}

async function fetchChecked<T>(schema: z.ZodType<T>, outgoing: Asked, guard: Guard): Promise<T> {
  const { status, body } = await fetchJson(outgoing, guard);
  if (status !== 200) throw new ProviderError(`HTTP ${status} in place of 200`);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new ProviderError("The response lacks what it must have", { cause: parsed.error });
  return parsed.data;
}

/** Another issuer's configuration is none: whoever serves it could mix up two providers. */
export async function discover(issuer: string, guard: Guard): Promise<Metadata> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const metadata = await fetchChecked(Metadata, { url }, guard);
  if (metadata.issuer !== issuer) throw new ProviderError("The configuration is another issuer's");
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = metadata;
  for (const each of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint])
    if (each !== undefined && findUrlProblem(each, guard) !== undefined)
      throw new ProviderError("The configuration has an address that cannot be used");
  return metadata;
}

const REMEMBERED_MS = 5 * MINUTE_MS;
const remembered = new Map<string, { metadata: Metadata; until: number }>();

/** The same, as it was within the last minutes. */
export async function knownProvider(issuer: string, guard: Guard): Promise<Metadata> {
  const cachedProvider = remembered.get(issuer);
  if (cachedProvider !== undefined && cachedProvider.until > Date.now()) return cachedProvider.metadata;
  const metadata = await discover(issuer, guard);
  remembered.set(issuer, { metadata, until: Date.now() + REMEMBERED_MS });
  return metadata;
}

interface AuthorizationRequest {
  client_id: string;
  redirect_uri: string;
  state: string;
  nonce: string;
  code_challenge: string;
  login_hint: string;
}

/** Returns the URL to which a browser goes to sign in. The provider's own parameters stay. */
export function authorizationUrl({ authorization_endpoint }: Metadata, parameters: AuthorizationRequest): string {
  const url = new URL(authorization_endpoint);
  const all = { response_type: "code", scope: "openid email profile", code_challenge_method: "S256", ...parameters };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}

interface CodeExchange {
  client_id: string;
  client_secret: string;
  redirect_uri: string;
  code: string;
  code_verifier: string;
}

const Tokens = z.object({ id_token: z.string(), access_token: z.string().optional() });
type Tokens = z.infer<typeof Tokens>;

export async function exchangeCode(metadata: Metadata, exchange: CodeExchange, guard: Guard): Promise<Tokens> {
  const { client_id, client_secret, ...rest } = exchange;
  const form = new URLSearchParams({ grant_type: "authorization_code", ...rest });
  const isBasic = metadata.token_endpoint_auth_methods_supported.includes("client_secret_basic");
  if (!isBasic) {
    form.set("client_id", client_id);
    form.set("client_secret", client_secret);
  }
  const credentials = Buffer.from([client_id, client_secret].map(formEncoded).join(":")).toString("base64");
  const headers = isBasic ? { authorization: `Basic ${credentials}` } : {};
  const { status, body } = await fetchJson({ url: metadata.token_endpoint, headers, form }, guard);
  // The code is wrong, or was used before (RFC 6749, 5.2).
  if (status === 400 && z.object({ error: z.literal("invalid_grant") }).safeParse(body).success)
    throw new NotProven("The provider does not accept the code");
  if (status !== 200) throw new ProviderError(`HTTP ${status} in place of tokens`);
  const tokens = Tokens.safeParse(body);
  if (!tokens.success) throw new ProviderError("The response has no ID token");
  return tokens.data;
}

/** Encodes a text as forms do (RFC 6749, 2.3.1). */
const formEncoded = (text: string): string => new URLSearchParams({ text }).toString().slice("text=".length);

/** The algorithms, all with a public key: with a shared one, whoever knows the client secret could sign. */
const ALGORITHMS: JWSAlgorithm[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

const Claims = z.looseObject({
  sub: z.string().min(1).max(255),
  nonce: z.string(),
  azp: z.string().optional(),
});
export type Claims = z.infer<typeof Claims>;

const KeySet = z.custom<JSONWebKeySet>((value) => z.object({ keys: z.array(z.looseObject({})) }).safeParse(value).success);

const TOLERATED_SECONDS = 30;
const AGE_MAX_SECONDS = 600;

interface Expected {
  client_id: string;
  nonce: string;
}

/** The claims of an ID token that this provider has just made for this client and this sign-in. */
export async function verifyIdToken(
  metadata: Metadata,
  idToken: string,
  { client_id, nonce }: Expected,
  guard: Guard,
): Promise<Claims> {
  const keys = await fetchChecked(KeySet, { url: metadata.jwks_uri }, guard);
  try {
    const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys), {
      algorithms: ALGORITHMS,
      issuer: metadata.issuer,
      audience: client_id,
      requiredClaims: ["exp", "iat"],
      clockTolerance: TOLERATED_SECONDS,
      maxTokenAge: AGE_MAX_SECONDS,
    });
    const claims = Claims.parse(payload);
    if (claims.nonce !== nonce) throw new NotProven("The ID token is of another sign-in");
    // With several audiences, `azp` names the one that the token was issued to (OpenID Connect Core, 3.1.3.7).
    const isForUs = claims.azp === undefined ? !Array.isArray(payload.aud) || payload.aud.length === 1 : claims.azp === client_id;
    if (!isForUs) throw new NotProven("The ID token is for another client");
    return claims;
  } catch (cause) {
    if (cause instanceof errors.JOSEError || cause instanceof z.ZodError || cause instanceof TypeError)
      throw new NotProven("The ID token is not valid", { cause });
    throw cause;
  }
}

const UserInfo = z.looseObject({ sub: z.string() });

/** Some providers say only who it is in the ID token, and all else where the access token is asked for. */
export async function completeClaims(
  { userinfo_endpoint: url }: Metadata,
  claims: Claims,
  { accessToken, requiredClaims }: { accessToken: string | undefined; requiredClaims: readonly string[] },
  guard: Guard,
): Promise<Claims> {
  if (url === undefined || accessToken === undefined || requiredClaims.every((name) => claims[name] !== undefined)) return claims;
  const more = await fetchChecked(UserInfo, { url, headers: { authorization: `Bearer ${accessToken}` } }, guard);
  if (more.sub !== claims.sub) throw new NotProven("The provider speaks of another person");
  return { ...more, ...claims };
}
