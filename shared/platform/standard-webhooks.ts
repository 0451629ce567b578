// Signatures of Standard Webhooks 1.0 (https://www.standardwebhooks.com): whoever knows the secret can tell that a delivery is
// ours.
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** The specification allows 24 to 64. */
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

/** One signature for each secret: for a while after a rotation there are two. */
export function signatureHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: number; body: Uint8Array },
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
