// Links to set a new password, each asked for and used from an address of its own.
import { expect } from "vitest";
import { anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";

let addresses = 10;
export const nextAddress = (): string => `127.0.8.${addresses++}`;
export const NEXT = "another long password";

export const ask = (email: string) => anonymous.post("/auth/password-reset", { email }, { from: nextAddress() });
export const confirm = (token: string, new_password = NEXT) =>
  anonymous.post("/auth/password-reset/confirm", { token, new_password }, { from: nextAddress() });

/** The link that a user of an account is sent. */
export async function linkFor(accountId: string, user: { id: string; email: string }): Promise<string> {
  expect((await ask(user.email)).status).toBe(200);
  return newestLink(accountId, "password_reset", user.id);
}

export const INVALID = {
  code: "UNAUTHORIZED",
  message: "This link is not valid: it was used, has expired, or a newer one was sent",
};
