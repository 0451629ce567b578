// Signing in to the dashboard, and who a credential belongs to.
import * as z from "zod";
import { ENVIRONMENTS } from "../domain/environments.ts";
import { LOGIN_FAILURES, PASSWORD_RESET } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { ROLES } from "./roles.ts";
import { emailTaken, linkInvalid, tooManySignIns, wrongPassword } from "./errors.ts";
import { AccountUser, userName } from "./users.ts";

const User = z
  .object({
    id: fields.id("user"),
    email: z.string().meta({ examples: ["admin@example.com"] }),
    name: z.string().meta({ examples: ["Demo Admin"] }),
  })
  .meta({ id: "User" });
type User = z.infer<typeof User>;

const newPassword = fields.characters(12, 128).meta({ examples: ["correct-horse-battery"] });

/** What signing in returns. */
const Begun = z.object({
  token: z.string().meta({ examples: ["eyJhbGciOiJIUzI1NiIs…"] }),
  expires_at: fields.timestamp,
  user: User,
});

/** Of a link in a mail. */
const linkToken = fields
  .characters(1, 200)
  .meta({ description: "What follows `token=` in the link", examples: ["AaZrUoN9eqWCv2mR0g"] });

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
    data: Begun,
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
      user: User.extend(AccountUser.pick({ notifications: true, email_status: true }).shape)
        .nullable()
        .meta({ description: "Set for a dashboard session", examples: [null] }),
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

export const acceptInvitation = () =>
  endpoint({
    method: "POST",
    path: "/auth/invitations/accept",
    summary: "Accept an invitation",
    description: "Creates the user who was invited, and signs them in.",
    access: "public",
    errors: () => [linkInvalid(), tooManySignIns(LOGIN_FAILURES.pair), emailTaken()],
    body: z.strictObject({ token: linkToken, name: userName, password: newPassword }),
    data: Begun,
  });

export const requestPasswordReset = () =>
  endpoint({
    method: "POST",
    path: "/auth/password-reset",
    summary: "Ask for a link to set a new password",
    description: `Sends a link by mail, valid for ${PASSWORD_RESET.minutes} minutes. The response is the same, whether there is such a user or not. An address is sent at most ${PASSWORD_RESET.perHour} an hour.`,
    access: "public",
    errors: () => [tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({ email: fields.characters(1, 254).meta({ examples: ["admin@example.com"] }) }),
    data: z.object({ requested: z.literal(true).meta({ examples: [true] }) }),
  });

export const confirmPasswordReset = () =>
  endpoint({
    method: "POST",
    path: "/auth/password-reset/confirm",
    summary: "Set a new password with a link",
    description: "The link works once, and only the newest. Ends all sessions of the user.",
    access: "public",
    errors: () => [linkInvalid(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({ token: linkToken, new_password: newPassword }),
    data: User,
  });

const SignedIn = z
  .object({
    id: fields.id("session"),
    created_at: fields.timestamp,
    ip_address: z
      .string()
      .nullable()
      .meta({ description: "Where it was opened", examples: ["198.51.100.7"] }),
    user_agent: z
      .string()
      .nullable()
      .meta({ description: "With what, as the client said", examples: ["Mozilla/5.0"] }),
    current: z.boolean().meta({ description: "Whether it is the session of this request", examples: [true] }),
  })
  .meta({ id: "Session" });
export type SignedIn = z.infer<typeof SignedIn>;

export const listSessions = () =>
  endpoint({
    path: "/auth/sessions",
    summary: "List your sessions",
    description: "Returns your open sessions, newest first.",
    access: "session",
    ...fields.resourceListOf("session", SignedIn, {}),
  });

export const endSession = () =>
  endpoint({
    method: "DELETE",
    path: "/auth/sessions/:id",
    summary: "End one of your sessions",
    description: "Signs you out where the session was opened, at once.",
    access: "session",
    conditional: false,
    data: z.object({ id: fields.id("session"), ended: z.literal(true).meta({ examples: [true] }) }),
  });

export const endSessions = () =>
  endpoint({
    method: "DELETE",
    path: "/auth/sessions",
    summary: "End all your other sessions",
    description: "Signs you out everywhere else, at once. The session of this request stays.",
    access: "session",
    conditional: false,
    data: z.object({ ended: fields.integer(2, "How many there were") }),
  });
