// The tokens, keys and secrets of an instance's code, in plain text: only for the job on the machine that uses them.
import { find } from "../data/table.ts";
import { keys } from "../data/keys.ts";
import { createKeyPair } from "../platform/key-pair.ts";
import { unseal } from "../platform/sealing.ts";
import { type CodeRecord, DeployKeyRecord, type RepositoryRecord } from "./schemas/code.ts";

/** A repository, and what it is read with. */
export interface RepositoryAccess {
  url: string;
  ref: string;
  path: string | null;
  credential: { username: string; token: string } | { private_key: string } | null;
}

/** What they are encrypted for: the account, so that a copy of the code can use them, and what they belong to. */
export const tokenContext = (accountId: string, url: string): string => `code token ${accountId} ${url}`;
export const secretContext = (accountId: string, name: string): string => `code secret ${accountId} ${name}`;
export const seedContext = (accountId: string, url: string): string => `deploy key ${accountId} ${url}`;

export const openRepositories = ({ account_id, repositories }: CodeRecord): Promise<RepositoryAccess[]> =>
  Promise.all(
    repositories.map(async (repository): Promise<RepositoryAccess> => {
      const { url, ref, path } = repository;
      return { url, ref, path, credential: await openCredential(account_id, repository) };
    }),
  );

async function openCredential(accountId: string, { url, credential }: RepositoryRecord): Promise<RepositoryAccess["credential"]> {
  if (credential === null) return null;
  if (credential !== "deploy_key")
    return { username: credential.username, token: await unseal(credential.token, tokenContext(accountId, url)) };
  const key = await find({ key: keys.deployKey(accountId, url), schema: DeployKeyRecord });
  if (key === undefined) return null;
  const seed = Buffer.from(await unseal(key.sealed_seed, seedContext(accountId, url)), "hex");
  return { private_key: createKeyPair(seed, "deploy").private_key };
}

/** What a log shows of a credential gives it away: a private key has several lines, each of which says something of it. */
export const secretsOf = (credential: NonNullable<RepositoryAccess["credential"]>): string[] =>
  "token" in credential
    ? [credential.token, Buffer.from(`${credential.username}:${credential.token}`).toString("base64")]
    : credential.private_key.split("\n");

/** A variable of the ERP's environment. The machine leaves secret ones out of logs. */
export interface Variable {
  name: string;
  value: string;
  secret?: true;
}

export const openEnvironment = ({ account_id, environment }: CodeRecord): Promise<Variable[]> =>
  Promise.all(
    environment.map(async ({ name, value, secret }): Promise<Variable> => {
      if (value !== undefined || secret === undefined) return { name, value: value ?? "" };
      return { name, value: await unseal(secret, secretContext(account_id, name)), secret: true };
    }),
  );

/** The values of the secret variables, which code may print: no log shows them. */
export const openSecrets = (code: CodeRecord): Promise<string[]> =>
  Promise.all(
    code.environment.flatMap(({ name, secret }) =>
      secret === undefined ? [] : [unseal(secret, secretContext(code.account_id, name))],
    ),
  );
