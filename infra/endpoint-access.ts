// What the function of each endpoint may do. It follows from what the endpoint is, but for some.
import type { Route } from "../shared/api/index.ts";
import type { Access } from "./function.ts";

/** Maps endpoints' IDs to what differs. A function whose table is undefined needs nothing from it, and so may not read it. */
const EXCEPTIONS: Readonly<Record<string, Pick<Access, "table" | "keys" | "storage" | "domain" | "readsLogs">>> = {
  "auth.acceptInvitation": { keys: ["session"] },
  "auth.login": { keys: ["session", "sealing"] }, // the challenge for a second factor is sealed
  "auth.passkeyLogin": { keys: ["session", "sealing"] },
  "auth.passkeyLoginOptions": { keys: ["sealing"] },
  "auth.reauthenticate": { keys: ["sealing"] },
  "auth.secondFactor": { keys: ["session", "sealing"] },
  "auth.ssoFinish": { keys: ["session", "sealing"] },
  "auth.ssoStart": { keys: ["sealing"] },
  "auth.requestPasswordReset": { keys: ["sealing"] }, // the token in a mail's link is sealed
  "backups.download": { table: "write", storage: "read" }, // it writes an entry of the audit log
  "code.update": { keys: ["sealing"] }, // tokens, secrets, and the private halves of deploy keys
  "health.get": { table: undefined },
  "instances.logs": { table: "write", readsLogs: true }, // it counts the readings, and notes them in the audit log
  "openapi.get": { table: undefined },
  "operations.log": { table: "write", readsLogs: true }, // it counts the readings of work that goes on
  "operations.get": { table: "write" }, // it releases the slot that a wait has taken
  "sso.update": { domain: true, keys: ["sealing"] }, // the client secret
  "uploads.complete": { storage: "list parts" },
  "uploads.delete": { storage: "list and abort uploads" },
  "uploads.get": { storage: "list parts" },
  "uploads.parts": { storage: "upload" },
  "webhooks.create": { domain: true },
  "webhooks.update": { domain: true, keys: ["sealing"] }, // the URL of a chat is a secret
};

/**
 * A GET reads, everything else writes; an idempotent endpoint needs the sealing key for the responses that it stores, and one
 * that needs a fresh proof for the challenge.
 */
export const endpointAccess = ({ id, method, idempotent, proof, starts }: Route): Access => ({
  table: method === "GET" ? "read" : "write",
  starts,
  keys: idempotent || proof !== undefined ? ["sealing"] : [],
  ...EXCEPTIONS[id],
});
