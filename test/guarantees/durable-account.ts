// Prints an account of the service that the environment names: tokens, because each has its own limits, and an SSH key.
import { randomBytes, randomUUID } from "node:crypto";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { startChange } from "../../shared/data/change.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { createAccount, setQuota } from "../../shared/operations/accounts/operator.ts";
import { reserveSshKey } from "../../shared/records/ssh-keys.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { env } from "../../shared/platform/env.ts";
import { parseSshKey } from "../../shared/runtime/ssh-key.ts";

const TOKENS = 100;

const { account, user } = await createAccount("durable", {
  email: `${randomUUID()}@example.com`,
  name: "Owner",
  password: `${randomUUID()}!`,
});
for (const kind of ["token", "server", "ssh_key"] as const) await setQuota(account.id, kind, 10_000);
const by = {
  caller: { account_id: account.id, type: "user" as const, id: user.id, name: user.name, permissions: [], ip_address: null },
  requestId: "durability",
};
const tokens: string[] = [];
for (let i = 0; i < TOKENS; i++) {
  const change = startChange({ id: account.id });
  const fields = { name: `token ${i}`, permissions: [...ALL_PERMISSIONS], expires_at: null };
  tokens.push(reserveToken(change, by, env().ENVIRONMENT, fields).value);
  await change.commit();
}
const change = startChange({ id: account.id });
const key = reserveSshKey(change, { name: "Key", ...parseSshKey(createKeyPair(randomBytes(32), "key").public_key) });
await change.commit();
console.log(JSON.stringify({ tokens, key: key.id }));
