// Single sign-on: the identity provider that people of an account sign in with, and the domains whose people they are.
import * as z from "zod";
import { SSO } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import { domainTaken, mustBeOneOf, notFound, txtRecordMissing } from "./errors.ts";
import * as fields from "./fields.ts";

/** The roles that an identity provider may give: no claim makes an owner. */
export const SSO_ROLES = ["admin", "operator", "viewer"] as const;
export type SsoRole = (typeof SSO_ROLES)[number];

const role = z.enum(SSO_ROLES, mustBeOneOf(SSO_ROLES));

const issuer = z
  .string()
  .max(255, "must have at most 255 characters")
  .regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^ ?#]+$/, "must be https")
  .meta({
    description: "The identity provider's issuer, exactly as its configuration says it",
    examples: ["https://login.example.com"],
  });

const printable = z
  .string()
  .regex(/^[!-~]{1,1000}$/, "must be up to 1000 printable ASCII characters without spaces")
  .meta({ maxLength: 1_000 });
const clientId = printable.meta({ examples: ["erp-control-plane"], maxLength: 1_000 });

const roleClaim = fields
  .characters(1, 100)
  .nullable()
  .meta({ description: "The claim that says the role, a text or a list of texts; null: none", examples: ["groups"] });

const Roles = z.record(fields.characters(1, 200), role);
const ROLES_ABOUT = {
  description: "The role for each value of the claim; of several, the one that may do most",
  examples: [{ "erp-admins": "admin" }],
};

const defaultRole = role.meta({ description: "The role of whoever has none by the claim", examples: ["viewer"] });
const required = z.boolean("must be a boolean").meta({
  description:
    "Whether people of the verified domains can sign in with single sign-on only. Owners can still use a passkey, for the day when the provider is down",
  examples: [false],
});

export const SsoDomain = z
  .object({
    name: z.string().meta({ examples: ["example.com"] }),
    name_unicode: z.string().meta({
      description: "The domain as people read it; the same as `name` unless that is international",
      examples: ["example.com"],
    }),
    verified: z.boolean().meta({ examples: [true] }),
    txt_record: z.string().meta({
      description: "The TXT record that proves that the domain is yours: set it at the domain itself, and keep it",
      examples: ["erp-sso=acc_01kag8w1s2e7tv8q4m5n6p7r8s.9jUyPxCDPkjOCU4s"],
    }),
  })
  .meta({ id: "SsoDomain" });
export type SsoDomain = z.infer<typeof SsoDomain>;

export const Sso = z
  .object({
    issuer: z.string().meta({ examples: ["https://login.example.com"] }),
    client_id: clientId,
    domains: z.array(SsoDomain),
    default_role: defaultRole,
    role_claim: roleClaim,
    roles: Roles.meta(ROLES_ABOUT),
    required,
    redirect_uri: z.string().meta({
      description: "Where the identity provider sends people back to: register it there",
      examples: ["https://erp.example.com/sso"],
    }),
    updated_at: fields.timestamp,
  })
  .meta({ id: "Sso" });
export type Sso = z.infer<typeof Sso>;

/** It follows from where the dashboard is. */
export const SSO_UNVERSIONED = ["redirect_uri"];

const path = "/settings/sso";
const access = { access: "session", role: "owner" } as const;

export const get = () =>
  endpoint({
    method: "GET",
    path,
    summary: "Show single sign-on",
    description: "Returns 404 if the account has none. The client secret is never shown.",
    ...access,
    unversioned: SSO_UNVERSIONED,
    errors: () => [notFound("single sign-on")],
    data: Sso,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path,
    summary: "Set single sign-on",
    description:
      "Sets the OpenID Connect provider, or replaces it; with `If-None-Match: *` only sets it. Fields that you leave out get their default, but `client_secret` keeps its value. " +
      "A new `issuer` needs the secret again, and unlinks everybody: each is linked again by the email of their next sign-in. Domains that stay remain verified.",
    ...access,
    proof: () => true,
    unversioned: SSO_UNVERSIONED,
    upserts: true,
    body: z
      .strictObject({
        issuer,
        client_id: clientId,
        client_secret: printable
          .optional()
          .meta({ description: "Stored encrypted, and never shown", examples: ["7Fjfp0ZBr1KtDRbnfVdmIw"], maxLength: 1_000 }),
        domains: z
          .array(z.strictObject({ name: fields.domainInput }))
          .min(1, "must contain at least one")
          .max(SSO.domains, `must contain at most ${SSO.domains}`)
          .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "must not contain duplicates")
          .meta({
            description: "The domains whose people sign in here, by their email",
            examples: [[{ name: "example.com" }]],
            minItems: 1,
            maxItems: SSO.domains,
          }),
        default_role: defaultRole.default("viewer"),
        role_claim: roleClaim.default(null),
        roles: Roles.refine((all) => Object.keys(all).length <= SSO.roles, `must have at most ${SSO.roles} entries`)
          .default({})
          .meta({ ...ROLES_ABOUT, maxProperties: SSO.roles }),
        required: required.default(false),
      })
      .check(({ value, issues }) => {
        if (value.role_claim === null && Object.keys(value.roles).length > 0)
          issues.push({ code: "custom", path: ["role_claim"], message: "is required", input: value.role_claim });
      }),
    data: Sso,
  });
export type SsoUpdate = z.infer<ReturnType<typeof update>["body"]>;

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path,
    summary: "Remove single sign-on",
    description:
      "Everybody stays a user, and is unlinked. Whoever has never had a password asks for a link to set one. Open sessions stay.",
    ...access,
    proof: () => true,
    errors: () => [notFound("single sign-on")],
    data: fields.deleted("account"),
  });
export { deleteOne as delete };

export const verifyDomain = () =>
  endpoint({
    method: "POST",
    path: "/settings/sso/domains/:name/verify",
    summary: "Verify a domain",
    description: `Looks for the domain's TXT record. A domain belongs to one account. The record is looked up daily from then on: after ${SSO.unseenDays} days without it, the domain is no longer verified.`,
    ...access,
    proof: () => true,
    errors: () => [txtRecordMissing(), domainTaken()],
    body: z.strictObject({}),
    data: SsoDomain,
  });
