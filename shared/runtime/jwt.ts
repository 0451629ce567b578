// The session token of the dashboard: a JWT signed with the service's own key.
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import * as fields from "../api/fields.ts";
import type { SignedInWith } from "../api/roles.ts";
import { openEnum } from "../data/stored.ts";
import { isCanonical } from "../domain/base64url.ts";
import type { Session } from "../operations/credentials/admission.ts";
import { env } from "../platform/env.ts";
import { keyOfVersion, keyVersions } from "../platform/secrets.ts";

/** Fixed, so that no token can choose how it is checked. */
const ALGORITHM = "HS256";
const ISSUER = "erp-control-plane";

/** Nothing else: a parameter that is not read could change what a header means. */
const Header = z.strictObject({ alg: z.literal(ALGORITHM), kid: z.string(), typ: z.literal("JWT") });
const Claims = z.object({
  sub: fields.id("user"),
  acc: fields.id("account"),
  sid: fields.id("session"),
  /** How it was opened. */
  how: openEnum<SignedInWith>().optional(),
});

export async function signSession({ userId, accountId, sessionId, signedInWith }: Session, expiresAt: Date): Promise<string> {
  const { current } = await keyVersions("SESSION_KEY");
  return new SignJWT({ acc: accountId, sid: sessionId, ...(signedInWith !== undefined && { how: signedInWith }) })
    .setProtectedHeader({ alg: ALGORITHM, kid: current.id, typ: "JWT" })
    .setSubject(userId)
    .setIssuer(ISSUER)
    .setAudience(env().ENVIRONMENT)
    .setIssuedAt()
    .setExpirationTime(Math.ceil(expiresAt.getTime() / 1000)) // in whole seconds; the session itself ends to the millisecond
    .sign(current.key);
}

/** The session of a JWT; undefined if it is not one of ours, incomplete, expired, or of another environment. */
export async function verifySession(jwt: string): Promise<Session | undefined> {
  if (!isWritten(jwt)) return undefined;
  try {
    const header = Header.safeParse(decodeProtectedHeader(jwt)).data;
    const key = header && (await keyOfVersion("SESSION_KEY", header.kid));
    if (key === undefined) return undefined;
    const { payload } = await jwtVerify(jwt, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: env().ENVIRONMENT,
      requiredClaims: ["exp"],
    });
    const claims = Claims.safeParse(payload);
    if (!claims.success) return undefined;
    const { sub, acc, sid, how: signedInWith } = claims.data;
    return { userId: sub, accountId: acc, sessionId: sid, ...(signedInWith !== undefined && { signedInWith }) };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined; // a value that a client invented
    throw error;
  }
}

function isWritten(jwt: string): boolean {
  const parts = jwt.split(".");
  return parts.length === 3 && parts.every(isCanonical);
}
