// Single sign-on as it is stored.
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import type { SsoRole } from "../../api/sso.ts";
import { openEnum } from "../../data/stored.ts";
import { text, textOrNull } from "./fields.ts";

const StoredDomain = z.object({
  name: text,
  /** The random part of its TXT record. */
  proof: text,
  verified: z.boolean(),
});
export type StoredDomain = z.infer<typeof StoredDomain>;

export const SsoRecord = z.object({
  account_id: text,
  issuer: text,
  client_id: text,
  /** Encrypted. */
  client_secret: text,
  domains: z.array(StoredDomain),
  default_role: openEnum<SsoRole>(),
  role_claim: textOrNull,
  roles: z.record(text, openEnum<SsoRole>()),
  required: z.boolean(),
  /** Another one with each new issuer: whoever was linked before is linked no more. */
  links: text,
  updated_at: fields.timestamp,
});
export type SsoRecord = z.infer<typeof SsoRecord>;

/** A verified domain, in the one place where all accounts look. */
export const DomainClaim = z.object({
  account_id: text,
  /** The times when its TXT record was last found, and last looked for. */
  seen_at: fields.timestamp,
  looked_at: fields.timestamp,
});
export type DomainClaim = z.infer<typeof DomainClaim>;
