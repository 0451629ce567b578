// Identifies the caller, and checks its policies as AWS does.
import { AwsFault } from "../errors.ts";
import { allows, type Context, type Need, type PolicyDocument } from "../iam/iam.ts";
import type { S3Operation } from "../s3/operation.ts";
import { ACCOUNT, REGION } from "../template/resolve.ts";
import type { Service } from "./calls.ts";
import { readSignature, requireOneSignature, type HttpCall, type Signed } from "./signature.ts";

export interface Principal {
  name: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** One array per principal, because decisions are cached by it; "operator" may do everything. */
  policies: readonly PolicyDocument[] | "operator";
}

export function authenticate(
  principals: (accessKeyId: string) => Principal | undefined,
  service: Service,
  http: HttpCall,
): { principal: Principal; signed: Signed } {
  const s3 = service === "s3";
  if (s3) requireOneSignature(http);
  const signed = readSignature(http);
  if (signed === undefined)
    throw s3
      ? new AwsFault("AccessDenied", "Access Denied: the request is not signed", 403)
      : new AwsFault("MissingAuthenticationTokenException", "Request is missing Authentication Token", 403);
  const principal = principals(signed.accessKeyId);
  if (principal === undefined)
    throw s3
      ? new AwsFault("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", 403)
      : new AwsFault("UnrecognizedClientException", "The security token included in the request is invalid.");
  // The credentials here are permanent ones: a session's token can only be one that has expired.
  if (http.headers["x-amz-security-token"] !== undefined || http.query.has("X-Amz-Security-Token"))
    throw s3
      ? new AwsFault("ExpiredToken", "The provided token has expired.")
      : new AwsFault("ExpiredTokenException", "The security token included in the request is expired");
  if (signed.region !== REGION || signed.service !== service)
    throw s3
      ? new AwsFault("AuthorizationHeaderMalformed", `The credential must be for ${REGION}/${service}`)
      : new AwsFault("InvalidSignatureException", `Credential should be scoped to ${REGION}/${service}`);
  return { principal, signed };
}

/** A presigned URL says nothing about the body unless its creator signed a hash into it. */
export function readPayloadHash({ headers, query }: HttpCall, { lifetimeSeconds }: Signed): string {
  const hash =
    headers["x-amz-content-sha256"] ??
    query.get("X-Amz-Content-Sha256") ??
    (lifetimeSeconds === undefined ? undefined : "UNSIGNED-PAYLOAD");
  if (hash === undefined) throw new AwsFault("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  if (/^([0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER)$/.test(hash)) return hash;
  throw new AwsFault("NotImplemented", `The local S3 does not take x-amz-content-sha256: ${hash}`, 501);
}

export function findNeed({ bucket, key, permission, query }: S3Operation): Need {
  const context = async (): Promise<Context> =>
    Object.fromEntries(
      ["prefix", "delimiter", "max-keys"].flatMap((name) => (query.has(name) ? [[`s3:${name}`, query.get(name) ?? ""]] : [])),
    );
  return { action: permission, resource: `arn:aws:s3:::${bucket}${key === "" ? "" : `/${key}`}`, context };
}

export async function requireAllowed({ name, policies }: Principal, needs: Need[]): Promise<void> {
  if (policies === "operator") return;
  for (const need of needs) {
    if (await allows(policies, ACCOUNT, need)) continue;
    const user = `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`;
    const reason = `because no identity-based policy allows the ${need.action} action`;
    const message = `User: ${user} is not authorized to perform: ${need.action} on resource: ${need.resource} ${reason}`;
    throw need.action.startsWith("s3:")
      ? new AwsFault("AccessDenied", message, 403)
      : new AwsFault("AccessDeniedException", message);
  }
}

/** As on AWS, a caller who may not list a bucket cannot tell what is not in it: 403 where the code waits for 404. */
export async function asSeenBy(principal: Principal, { bucket, key, permission }: S3Operation, error: unknown): Promise<unknown> {
  if (!(error instanceof AwsFault) || error.name !== "NoSuchKey" || permission !== "s3:GetObject") return error;
  const context = async (): Promise<Context> => ({ "s3:prefix": key });
  return requireAllowed(principal, [{ action: "s3:ListBucket", resource: `arn:aws:s3:::${bucket}`, context }]).then(
    () => error,
    (denied: unknown) => denied,
  );
}
