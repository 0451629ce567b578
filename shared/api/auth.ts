// Signing in to the dashboard, and who a credential belongs to.
import * as z from "zod";
import { ENVIRONMENTS } from "../domain/environments.ts";
import { DEFAULT_QUOTAS, LOGIN_FAILURES, PASSWORD_RESET, SECOND_FACTORS, SSO } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { ROLES } from "./roles.ts";
import {
  EXAMPLE_CHALLENGE,
  addressNotAllowed,
  emailNotVerified,
  emailTaken,
  linkInvalid,
  noSso,
  overQuota,
  personMismatch,
  proofInvalid,
  providerFailed,
  secondFactorRequired,
  ssoInvalid,
  ssoRequired,
  tooManySignIns,
  wrongPassword,
} from "./errors.ts";
import { Assertion, PasskeyOptions, Proof } from "./second-factors.ts";
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

/** The token in a link that was mailed. */
const linkToken = fields
  .characters(1, 200)
  .meta({ description: "What follows `token=` in the link", examples: ["AaZrUoN9eqWCv2mR0g"] });

export const login = () =>
  endpoint({
    method: "POST",
    path: "/auth/login",
    summary: "Sign in to the dashboard",
    description:
      "Returns a JWT to use as a bearer token on every endpoint. It expires after 12 hours. A user with a second factor gets `401` with the code " +
      "`SECOND_FACTOR_REQUIRED` for the right password, and goes on with `POST /auth/login/second-factor`.",
    access: "public",
    errors: () => [
      wrongPassword(),
      secondFactorRequired(EXAMPLE_CHALLENGE),
      ssoRequired(),
      addressNotAllowed(),
      tooManySignIns(LOGIN_FAILURES.pair),
    ],
    body: z.strictObject({
      email: fields.characters(1, 254).meta({ examples: ["admin@example.com"] }),
      password: fields.characters(1, 1024).meta({ examples: ["correct-horse-battery"] }),
    }),
    data: Begun,
  });

const CHALLENGE_WORDS = `A challenge is valid for ${SECOND_FACTORS.challengeMinutes} minutes and ${SECOND_FACTORS.tries} tries, and works once. After ${LOGIN_FAILURES.pair} wrong codes or passkeys of a user in 15 minutes, over all challenges, the response is \`429\`.`;

export const secondFactor = () =>
  endpoint({
    method: "POST",
    path: "/auth/login/second-factor",
    summary: "Sign in with a second factor",
    description: `The second step of \`POST /auth/login\`, with the \`challenge\` of its error. ${CHALLENGE_WORDS}`,
    access: "public",
    errors: () => [proofInvalid(), ssoRequired(), addressNotAllowed(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: Proof,
    data: Begun,
  });

export const passkeyLoginOptions = () =>
  endpoint({
    method: "POST",
    path: "/auth/login/passkey/options",
    summary: "Begin to sign in with a passkey",
    description:
      "Returns what the browser needs to sign in with a passkey alone (`navigator.credentials.get`), without an email or a password.",
    access: "public",
    errors: () => [tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({}),
    data: PasskeyOptions,
  });

export const passkeyLogin = () =>
  endpoint({
    method: "POST",
    path: "/auth/login/passkey",
    summary: "Sign in with a passkey",
    description: `Signs in without a password: the passkey says who it is, and has verified that. ${CHALLENGE_WORDS}`,
    access: "public",
    errors: () => [proofInvalid(), ssoRequired(), addressNotAllowed(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({ assertion: Assertion }),
    data: Begun,
  });

const sha256 = fields
  .characters(43, 43)
  .regex(/^[A-Za-z0-9_-]+$/, "must be base64url")
  .meta({
    description: "The SHA-256 of `browser_secret`, in base64url",
    examples: ["n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"],
  });
const state = fields
  .characters(1, 2_048)
  .regex(/^[A-Za-z0-9_-]+$/, "must be base64url")
  .meta({ examples: ["YTFiMmMzLmRFNmY3RzhoOWo"] });

export const ssoStart = () =>
  endpoint({
    method: "POST",
    path: "/auth/sso/start",
    summary: "Begin single sign-on",
    description:
      "Returns the address of the identity provider to go to. It sends the browser back to the dashboard's `/sso`, which goes on with `POST /auth/sso/finish`. " +
      "Only whoever has the secret that `browser_challenge` is made of can finish.",
    access: "public",
    errors: () => [noSso(), providerFailed(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({
      email: fields.characters(1, 254).meta({ examples: ["admin@example.com"] }),
      browser_challenge: sha256,
    }),
    data: z.object({
      authorization_url: z.string().meta({
        examples: ["https://login.example.com/authorize?client_id=erp-control-plane&response_type=code&state=YTFiMmMz"],
      }),
      state,
    }),
  });

export const ssoFinish = () =>
  endpoint({
    method: "POST",
    path: "/auth/sso/finish",
    summary: "Finish single sign-on",
    description:
      `Signs in whom the identity provider names, within ${SSO.stateMinutes} minutes, once. A person is linked to the account's user with their verified email the first time; ` +
      "whoever is new gets a user with the role that the provider says, or the default role.",
    access: "public",
    errors: () => [
      ssoInvalid(),
      emailNotVerified(),
      addressNotAllowed(),
      providerFailed(),
      personMismatch(),
      emailTaken(),
      overQuota("user", DEFAULT_QUOTAS.user),
      tooManySignIns(LOGIN_FAILURES.pair),
    ],
    body: z.strictObject({
      state,
      code: fields.characters(1, 2_048).meta({ description: "From the provider", examples: ["SplxlOBeZQQYbYS6WxSbIA"] }),
      iss: fields
        .characters(1, 255)
        .optional()
        .meta({ description: "From the provider, if it says who it is (RFC 9207)", examples: ["https://login.example.com"] }),
      browser_secret: fields
        .characters(43, 128)
        .regex(/^[A-Za-z0-9_-]+$/, "must be base64url")
        .meta({ examples: ["qWJ0c9mYwP1rXJj0N4xV1m0y3Qf2H1xw0oT7n9zq6Yc"] }),
    }),
    data: Begun,
  });

export const reauthenticate = () =>
  endpoint({
    method: "POST",
    path: "/auth/reauthenticate",
    summary: "Prove that it is you",
    description:
      "Some actions need a proof of your second factor that is at most " +
      `${SECOND_FACTORS.proofMinutes} minutes old: they respond with \`403\` and the code \`REAUTHENTICATION_REQUIRED\`. Send the proof with the \`challenge\` of that error, then repeat ` +
      `the request. It counts for this session. ${CHALLENGE_WORDS}`,
    access: "session",
    errors: () => [proofInvalid(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: Proof,
    data: z.object({ second_factor_at: fields.timestamp }),
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
      user: User.extend(
        AccountUser.pick({ email_unicode: true, notifications: true, email_status: true, second_factors: true }).shape,
      )
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
    proof: () => true,
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
    errors: () => [
      linkInvalid(),
      ssoRequired(),
      addressNotAllowed(),
      tooManySignIns(LOGIN_FAILURES.pair),
      emailTaken(),
      overQuota("user", DEFAULT_QUOTAS.user),
    ],
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
    errors: () => [ssoRequired(), tooManySignIns(LOGIN_FAILURES.pair)],
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
    errors: () => [linkInvalid(), ssoRequired(), tooManySignIns(LOGIN_FAILURES.pair)],
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
    second_factor_at: fields.timestamp.nullable().meta({
      description: "When it was last proven with a second factor; null if it never was",
      examples: [null],
    }),
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
