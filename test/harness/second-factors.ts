// Users with second factors, and their sign-ins.
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { stepAt, totpCode } from "../../shared/platform/totp.ts";
import { Authenticator } from "./authenticator.ts";
import { type ApiResponse, type Client, clientWith, anonymous } from "./client.ts";

/** An authenticator app. Its code for the next step is accepted, too, and not only once that has begun. */
export interface App {
  code: (stepsAhead?: 0 | 1) => string;
}

/** An authenticator app with the code that has set it up. */
export interface UsedApp extends App {
  used: string;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function bytesOfSecret(secret: string): Uint8Array {
  const bits = Array.from(secret, (letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** That of a secret. */
export function appOf(secret: string): App {
  const bytes = bytesOfSecret(secret);
  return { code: (stepsAhead = 0) => totpCode(bytes, stepAt(Date.now()) + stepsAhead) };
}

/** Sets up an app for whoever is signed in. */
export async function setUpApp(session: Client): Promise<UsedApp> {
  const enrollment = (await session.post("/auth/second-factors/totp", {})).as(secondFactors.beginTotp().data);
  const app = appOf(enrollment.secret);
  const used = app.code();
  (await session.post("/auth/second-factors/totp/confirm", { code: used })).as(secondFactors.Factor);
  return { ...app, used };
}

export async function addPasskey(session: Client, name = "Laptop"): Promise<Authenticator> {
  const response = await session.post("/auth/second-factors/passkeys/options", {});
  const passkey = new Authenticator();
  const attestation = passkey.create(response.as(secondFactors.passkeyOptions().data));
  (await session.post("/auth/second-factors/passkeys", { name, attestation })).as(secondFactors.Factor);
  return passkey;
}

export const newCodes = async (session: Client): Promise<string[]> =>
  (await session.post("/auth/second-factors/recovery-codes", {})).as(secondFactors.renewCodes().data).codes;

const Challenge = z.strictObject({
  challenge: z.string(),
  methods: z.array(z.enum(secondFactors.METHODS)),
  passkey_options: secondFactors.PasskeyOptions.nullable(),
});
export type Challenge = z.infer<typeof Challenge>;

/** What an error asks for a proof with. */
export const challengeIn = ({ error }: ApiResponse): Challenge => Challenge.parse(error?.details);

let addresses = 1;
/** Wrong tries count for an address, too: each test has its own. */
export function newAddress(): string {
  const address = addresses++;
  return `127.${Math.floor(address / 50_000)}.${20 + Math.floor((address % 50_000) / 250)}.${1 + (address % 250)}`;
}

interface Credentials {
  email: string;
  password: string;
}

export const signIn = ({ email, password }: Credentials, from = newAddress()): Promise<ApiResponse> =>
  anonymous.post("/auth/login", { email, password }, { from });

/** The challenge that whoever knows the password gets. */
export const challengeFor = async (user: Credentials): Promise<Challenge> => challengeIn(await signIn(user));

export const prove = (proof: Record<string, unknown>, from = newAddress()): Promise<ApiResponse> =>
  anonymous.post("/auth/login/second-factor", proof, { from });

export const sessionIn = (response: ApiResponse): Client => clientWith(response.as(auth.login().data).token);

/** The options for the passkey of a challenge. */
export function optionsIn({ passkey_options }: Challenge): secondFactors.PasskeyOptions {
  if (passkey_options === null) throw new Error("The user has no passkey");
  return passkey_options;
}

export const NOT_VALID = {
  code: "UNAUTHORIZED",
  message: "This code or passkey is not valid: it is wrong, was used, or its time is over",
};
