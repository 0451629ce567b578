// Signing in to the dashboard, and who a credential belongs to.
import * as z from "zod";
import { ENVIRONMENTS } from "../domain/environments.ts";
import { LOGIN_FAILURES } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { ROLES } from "./roles.ts";
import { tooManySignIns, wrongPassword } from "./errors.ts";

const User = z
  .object({
    id: fields.id("user"),
    email: z.string().meta({ examples: ["admin@example.com"] }),
    name: z.string().meta({ examples: ["Demo Admin"] }),
  })
  .meta({ id: "User" });
type User = z.infer<typeof User>;

const newPassword = fields.characters(12, 128).meta({ examples: ["correct-horse-battery"] });

export const login = () =>
  endpoint({
    method: "POST",
    path: "/auth/login",
    summary: "Sign in to the dashboard",
    description: "Returns a JWT to use as a bearer token on every endpoint. It expires after 12 hours.",
    access: "public",
    errors: () => [wrongPassword(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({
      email: fields.characters(1, 254).meta({ examples: ["admin@example.com"] }),
      password: fields.characters(1, 1024).meta({ examples: ["correct-horse-battery"] }),
    }),
    data: z.object({ token: z.string().meta({ examples: ["eyJhbGciOiJIUzI1NiIs…"] }), expires_at: fields.timestamp, user: User }),
  });

export const logout = () =>
  endpoint({
    method: "POST",
    path: "/auth/logout",
    summary: "Sign out",
    description: "Ends the session immediately: the next request with its token gets `401`.",
    access: "session",
    body: z.strictObject({}),
    data: z.object({ id: fields.id("session"), ended: z.literal(true).meta({ examples: [true] }) }),
  });

export const me = () =>
  endpoint({
    method: "GET",
    path: "/auth/me",
    summary: "Show the current user or token and its permissions",
    description: "Works with any credential: `user` is null for an API token, `token` is null for a dashboard session.",
    access: "credential",
    data: z.object({
      user: User.nullable().meta({ description: "Set for a dashboard session", examples: [null] }),
      token: z
        .object({ id: fields.id("token"), name: z.string().meta({ examples: ["Deploy pipeline"] }) })
        .nullable()
        .meta({ description: "Set for an API token" }),
      account: z.object({ id: fields.id("account"), name: z.string().meta({ examples: ["Example Ltd"] }) }),
      role: z
        .enum(ROLES)
        .nullable()
        .meta({ description: "The user's role; null for an API token", examples: [null] }),
      permissions: z.array(z.enum(ALL_PERMISSIONS)).meta({ examples: [["servers:read", "instances:read"]] }),
      environment: z.enum(ENVIRONMENTS).meta({ examples: ["test"] }),
    }),
  });

export const password = () =>
  endpoint({
    method: "PUT",
    path: "/auth/password",
    summary: "Change your password",
    description:
      "Requires the current password; a wrong one counts as a failed sign-in. Ends all your other sessions and keeps this one.",
    access: "session",
    errors: () => [tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({
      current_password: fields.characters(1, 1024).meta({ examples: ["correct-horse-battery"] }),
      new_password: newPassword,
    }),
    data: User,
  });
