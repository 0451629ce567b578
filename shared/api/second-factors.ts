// Second factors of whoever is signed in: passkeys, an authenticator app, and recovery codes for the day when both are lost.
import * as z from "zod";
import { LOGIN_FAILURES, SECOND_FACTORS } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import { factorExists, noSecondFactor, passkeyExists, proofInvalid, tooManyPasskeys, tooManySignIns } from "./errors.ts";
import * as fields from "./fields.ts";
import { MINUTE_MS } from "../domain/durations.ts";

const FACTOR_TYPES = ["passkey", "totp"] as const;
export type FactorType = (typeof FACTOR_TYPES)[number];

export const Factor = z
  .object({
    id: fields.id("second_factor"),
    type: z.enum(FACTOR_TYPES).meta({ description: "`totp`: an authenticator app", examples: ["passkey"] }),
    name: z.string().meta({ examples: ["Laptop"] }),
    created_at: fields.timestamp,
    last_used_at: fields.timestamp.nullable().meta({ description: "Null if it was not used yet", examples: [null] }),
  })
  .meta({ id: "SecondFactor" });
export type Factor = z.infer<typeof Factor>;

/** WebAuthn's own JSON: a browser makes it, and reads it. Its fields may grow. */
const webAuthn = <S extends z.ZodRawShape>(shape: S) => z.looseObject(shape);
const base64url = (characters: number) => fields.characters(1, characters).regex(/^[A-Za-z0-9_-]+$/, "must be base64url");
const bytes = base64url(32_768);
const code = fields.characters(1, 64).regex(/^[0-9A-Za-z -]+$/, "must contain only letters, digits, spaces and hyphens");
/** The ID of a passkey: at most 1,023 bytes. */
const credentialId = base64url(1_364).meta({ examples: ["0pIh2mC5hS3QO4Wm0i8T9A"] });

/** What `PublicKeyCredential.toJSON()` makes of a new passkey. */
const Attestation = webAuthn({
  id: credentialId,
  rawId: credentialId,
  type: z.literal("public-key").meta({ examples: ["public-key"] }),
  response: webAuthn({
    clientDataJSON: bytes.meta({ examples: ["eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0"] }),
    attestationObject: bytes.meta({ examples: ["o2NmbXRkbm9uZQ"] }),
    transports: z
      .array(fields.characters(1, 32).regex(/^[a-z-]+$/, "must be the name of a transport"))
      .max(16)
      .optional()
      .meta({ examples: [["internal"]] }),
  }),
}).meta({
  description: "WebAuthn's `RegistrationResponseJSON`",
  examples: [
    {
      id: "0pIh2mC5hS3QO4Wm0i8T9A",
      rawId: "0pIh2mC5hS3QO4Wm0i8T9A",
      type: "public-key",
      response: {
        clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0",
        attestationObject: "o2NmbXRkbm9uZQ",
        transports: ["internal"],
      },
    },
  ],
});
export type Attestation = z.infer<typeof Attestation>;

/** The same of one that is used. */
export const Assertion = webAuthn({
  id: credentialId,
  rawId: credentialId,
  type: z.literal("public-key").meta({ examples: ["public-key"] }),
  response: webAuthn({
    clientDataJSON: bytes.meta({ examples: ["eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0"] }),
    authenticatorData: bytes.meta({ examples: ["SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ"] }),
    signature: bytes.meta({ examples: ["MEUCIQDqvU8"] }),
    userHandle: bytes
      .nullable()
      .optional()
      .meta({ examples: ["AZTmvuY"] }),
  }),
}).meta({
  description: "WebAuthn's `AuthenticationResponseJSON`",
  examples: [
    {
      id: "0pIh2mC5hS3QO4Wm0i8T9A",
      rawId: "0pIh2mC5hS3QO4Wm0i8T9A",
      type: "public-key",
      response: {
        clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
        authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
        signature: "MEUCIQDqvU8",
        userHandle: "AZTmvuY",
      },
    },
  ],
});
export type Assertion = z.infer<typeof Assertion>;

const descriptors = z
  .array(
    z.object({
      id: z.string().meta({ examples: ["0pIh2mC5hS3QO4Wm0i8T9A"] }),
      type: z.literal("public-key").meta({ examples: ["public-key"] }),
      transports: z.array(z.string()).meta({ examples: [["internal"]] }),
    }),
  )
  .meta({ description: "The user's passkeys" });

const challenge = z.string().meta({ examples: ["YTFiMmMzLmRFNmY3RzhoOWo"] });
const timeout = fields.integer(SECOND_FACTORS.challengeMinutes * MINUTE_MS, "Milliseconds");
const userVerification = z.enum(["preferred", "required"]).meta({ examples: ["preferred"] });

/** What `PublicKeyCredential.parseRequestOptionsFromJSON()` reads. */
export const PasskeyOptions = z
  .object({
    challenge,
    rpId: z.string().meta({ examples: ["erp.example.com"] }),
    allowCredentials: descriptors,
    timeout,
    userVerification,
  })
  .meta({ id: "PasskeyOptions", description: "WebAuthn's `PublicKeyCredentialRequestOptionsJSON`" });
export type PasskeyOptions = z.infer<typeof PasskeyOptions>;

const CreationOptions = z
  .object({
    challenge,
    rp: z.object({
      id: z.string().meta({ examples: ["erp.example.com"] }),
      name: z.string().meta({ examples: ["erp.example.com"] }),
    }),
    user: z.object({
      id: z.string().meta({ examples: ["AZTmvuY"] }),
      name: z.string().meta({ examples: ["ada@example.com"] }),
      displayName: z.string().meta({ examples: ["Ada Lovelace"] }),
    }),
    pubKeyCredParams: z.array(
      z.object({ type: z.literal("public-key").meta({ examples: ["public-key"] }), alg: fields.integer(-7) }),
    ),
    excludeCredentials: descriptors,
    authenticatorSelection: z.object({
      residentKey: z.literal("required").meta({ examples: ["required"] }),
      requireResidentKey: z.literal(true).meta({ examples: [true] }),
      userVerification,
    }),
    attestation: z.literal("none").meta({ examples: ["none"] }),
    timeout,
  })
  .meta({ id: "PasskeyCreationOptions", description: "WebAuthn's `PublicKeyCredentialCreationOptionsJSON`" });
export type CreationOptions = z.infer<typeof CreationOptions>;

export const METHODS = ["passkey", "totp", "recovery_code"] as const;
export type Method = (typeof METHODS)[number];

/** How a second factor is proven, by a request that has a challenge. */
export const Proof = z
  .strictObject({
    challenge: base64url(2_048).meta({ description: "From the error's `details`", examples: ["YTFiMmMzLmRFNmY3RzhoOWo"] }),
    method: z.enum(METHODS).meta({ examples: ["totp"] }),
    code: code.optional().meta({ description: "For `totp` and `recovery_code`", examples: ["492039"] }),
    assertion: Assertion.optional().meta({ description: "For `passkey`: WebAuthn's `AuthenticationResponseJSON`", examples: [] }),
  })
  .check(({ value, issues }) => {
    const needed = value.method === "passkey" ? "assertion" : "code";
    if (value[needed] === undefined)
      issues.push({ code: "custom", path: [needed], message: "is required", input: value[needed] });
  })
  .meta({ examples: [{ challenge: "YTFiMmMzLmRFNmY3RzhoOWo", method: "totp", code: "492039" }] });
export type Proof = z.infer<typeof Proof>;

export const list = () =>
  endpoint({
    path: "/auth/second-factors",
    summary: "List your second factors",
    description:
      "Returns your passkeys and your authenticator app, newest first. `GET /auth/me` says how many recovery codes are left.",
    access: "session",
    ...fields.resourceListOf("second_factor", Factor, {}),
  });

export const beginTotp = () =>
  endpoint({
    method: "POST",
    path: "/auth/second-factors/totp",
    summary: "Begin to set up an authenticator app",
    description: `Only this response contains the secret. The app counts once you confirm it with a code, within ${SECOND_FACTORS.setUpMinutes} minutes; a secret from before stops working.`,
    access: "session",
    proof: () => true,
    errors: () => [factorExists()],
    body: z.strictObject({}),
    data: z.object({
      secret: z.string().meta({ description: "In base32, to type", examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"] }),
      otpauth_url: z.string().meta({
        description: "To show as a QR code",
        examples: [
          "otpauth://totp/erp.example.com:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=erp.example.com",
        ],
      }),
    }),
  });

export const confirmTotp = () =>
  endpoint({
    method: "POST",
    path: "/auth/second-factors/totp/confirm",
    summary: "Confirm an authenticator app",
    description: "Adds the app. From now on, signing in with your password needs a second factor.",
    access: "session",
    proof: () => true,
    status: 201,
    errors: () => [proofInvalid(), factorExists(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({
      code: code.meta({ description: "What the app shows", examples: ["492039"] }),
    }),
    data: Factor,
  });

export const passkeyOptions = () =>
  endpoint({
    method: "POST",
    path: "/auth/second-factors/passkeys/options",
    summary: "Begin to add a passkey",
    description: `Returns what the browser needs to create a passkey (\`navigator.credentials.create\`), for ${SECOND_FACTORS.challengeMinutes} minutes. You may have ${SECOND_FACTORS.passkeys} passkeys.`,
    access: "session",
    proof: () => true,
    errors: () => [tooManyPasskeys()],
    body: z.strictObject({}),
    data: CreationOptions,
  });

export const addPasskey = () =>
  endpoint({
    method: "POST",
    path: "/auth/second-factors/passkeys",
    summary: "Add a passkey",
    description:
      "Adds the passkey that the browser has created. From now on, signing in with your password needs a second factor.",
    access: "session",
    proof: () => true,
    status: 201,
    errors: () => [proofInvalid(), passkeyExists(), tooManyPasskeys(), tooManySignIns(LOGIN_FAILURES.pair)],
    body: z.strictObject({ name: fields.text(64, "Laptop"), attestation: Attestation }),
    data: Factor,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/auth/second-factors/:id",
    summary: "Remove a second factor",
    description: "Takes effect at once. The last one takes your recovery codes with it.",
    access: "session",
    proof: () => true,
    conditional: false,
    data: fields.deleted("second_factor"),
  });
export { deleteOne as delete };

export const renewCodes = () =>
  endpoint({
    method: "POST",
    path: "/auth/second-factors/recovery-codes",
    summary: "Make new recovery codes",
    description: `Returns ${SECOND_FACTORS.recoveryCodes} codes, once. Each works once in the place of a second factor; those from before stop working.`,
    access: "session",
    proof: () => true,
    errors: () => [noSecondFactor()],
    body: z.strictObject({}),
    data: z.object({ codes: z.array(z.string().meta({ examples: ["7k2m-9xq4-hd0v-w3ta"] })) }),
  });
