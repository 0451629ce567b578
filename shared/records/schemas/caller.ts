// Who sends a request, as the authorizer identified them.
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import type { Permission } from "../../api/permissions.ts";
import type { Role, SignedInWith } from "../../api/roles.ts";
import { openEnum } from "../../data/stored.ts";
import { text, mark, textOrNull, maybeText } from "./fields.ts";

/** The caller of a request, as the authorizer identified it. */
export const Caller = z.object({
  account_id: fields.id("account"),
  type: openEnum<"token" | "user">(),
  id: text,
  /** Unknown to the authorizer; whoever changes something reads it with the account (`begin.ts`). */
  name: maybeText,
  permissions: z.array(openEnum<Permission>()),
  /** Users only. An authorizer from before roles existed passes none: then every user was an owner. */
  role: openEnum<Role>().optional(),
  session_id: maybeText,
  /** How the session was opened; one from before second factors does not say. */
  signed_in_with: openEnum<SignedInWith>().optional(),
  /** The session must set up a second factor first. */
  must_set_up: mark,
  ip_address: textOrNull,
  /** The slot of the credential for waiting that the request has taken, and until when it is taken. */
  wait: z.object({ place: text, until: z.number() }).optional(),
});

export type Caller = z.infer<typeof Caller>;

export const roleIn = ({ type, role }: Pick<Caller, "type" | "role">): Role | undefined =>
  type === "user" ? (role ?? "owner") : undefined;
