// The demo account of a service on one machine: a user to sign in as, a token, and an SSH key, so that the first call works.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange, now } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { createAccount, resetPassword } from "../../shared/operations/accounts/operator.ts";
import type { UserRecord } from "../../shared/records/schemas/user.ts";
import { reserveSshKey } from "../../shared/records/ssh-keys.ts";
import { generatePassword } from "../../shared/domain/generated-password.ts";
import { parseSshKey } from "../../shared/runtime/ssh-key.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import type { Environment } from "../../shared/domain/environments.ts";
import { dashboardUrl } from "./dashboard-url.ts";
import { replaceFile } from "./durable.ts";
import { examplePeople, startIdentityProvider } from "./identity-provider.ts";

const Demo = z.object({
  base_url: z.string(),
  dashboard_url: z.string(),
  email: z.string(),
  password: z.string(),
  token: z.string(),
  ssh_key_id: z.string(),
  /** What to set single sign-on to; older files lack it. */
  identity_provider: z
    .object({ issuer: z.string(), client_id: z.string(), client_secret: z.string(), domain: z.string() })
    .optional(),
});
export type Demo = z.infer<typeof Demo>;

const EMAIL = "demo@example.com";
const SSO_DOMAIN = "people.example";

const demoFile = (dataDir: string): string => join(dataDir, "demo.json");

function readDemo(dataDir: string): Demo | undefined {
  const file = demoFile(dataDir);
  return existsSync(file) ? Demo.safeParse(JSON.parse(readFileSync(file, "utf8"))).data : undefined;
}

/** The existing demo account, or a new one; `demo.json` holds its secrets, readable by its owner only. */
export async function demoAccount(dataDir: string, apiUrl: string, environment: Environment): Promise<Demo> {
  const urls = { base_url: `${apiUrl}/api/v1`, dashboard_url: `${dashboardUrl(apiUrl)}/` };
  const user = await findUserByEmail(EMAIL);
  const stored = readDemo(dataDir);
  const demo: Demo =
    user !== undefined && stored !== undefined
      ? { ...stored, ...urls }
      : { ...urls, email: EMAIL, ...(await prepare(user, environment)) };
  writeDemo(dataDir, demo);
  return demo;
}

const writeDemo = (dataDir: string, demo: Demo): void =>
  replaceFile(demoFile(dataDir), `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600 });

/** Starts the identity provider where it was before, because accounts know it by its address, and notes how to use it. */
export async function demoProvider(dataDir: string, demo: Demo): Promise<{ demo: Demo; stop: () => Promise<void> }> {
  const last = demo.identity_provider;
  const { stop, ...provider } = await startIdentityProvider({
    port: last === undefined ? undefined : Number(new URL(last.issuer).port),
    clientSecret: last?.client_secret ?? randomBytes(24).toString("base64url"),
    people: examplePeople(SSO_DOMAIN),
  });
  const noted = { ...demo, identity_provider: { ...provider, domain: SSO_DOMAIN } };
  writeDemo(dataDir, noted);
  return { demo: noted, stop };
}

/** If the file is lost but the account exists, it gets a new password and another token. */
async function prepare(
  user: UserRecord | undefined,
  environment: Environment,
): Promise<Pick<Demo, "password" | "token" | "ssh_key_id">> {
  const password = generatePassword();
  const owner = user ?? (await createAccount("Demo", { email: EMAIL, name: "Demo Admin", password })).user;
  if (user !== undefined) await resetPassword(EMAIL, password);
  const caller = {
    account_id: owner.account_id,
    type: "user" as const,
    id: owner.id,
    name: owner.name,
    permissions: [],
    ip_address: "127.0.0.1",
  };
  const by = { caller, requestId: "npm-start" };
  const change = startChange(await getAccount(owner.account_id));
  const { token, value } = reserveToken(change, by, environment, {
    name: user === undefined ? "Demo" : `Demo ${now()}`, // names are unique, and the lost one has the first
    permissions: [...ALL_PERMISSIONS],
    expires_at: null,
  });
  const { public_key: publicKey } = createKeyPair(randomBytes(32), "demo"); // nobody keeps its private key: it opens nothing
  const key = reserveSshKey(change, { name: "Demo key", ...parseSshKey(publicKey) });
  logEvent(change, by, "token.create", { type: "token", id: token.id, name: token.name });
  await change.commit();
  return { password, token: value, ssh_key_id: key.id };
}
