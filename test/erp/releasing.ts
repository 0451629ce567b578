// The machine is released, and nothing secret was logged.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Chain, type Shop, OWN_PASSWORD } from "./context.ts";
import { isGone } from "./service.ts";

export async function release(
  { machine, service, client, guarantee, succeeds }: Chain,
  { server, shop, password }: Shop,
): Promise<void> {
  await guarantee("the machine is released with nothing of the account left on it", async () => {
    await succeeds((await client.instances.delete({ params: { id: shop.id } })).data.id);
    await succeeds((await client.servers.delete({ params: { id: server.id } })).data.id);
    assert(await isGone(() => client.servers.get({ params: { id: server.id } })));
    assert.equal(machine.docker("ps", "-a", "--format", "{{.Names}}").trim(), "");
    assert.deepEqual(readdirSync(join(machine.root, "instances")), []);
    assert.doesNotMatch(readFileSync(join(machine.system, "root/.ssh/authorized_keys"), "utf8"), /ssh-/);
  });
  await guarantee("no password is in a log", async () => {
    const logs = execFileSync("bash", ["-c", 'cat "$0"/* "$1"/jobs/*/log', service.logs, machine.root], {
      encoding: "utf8",
      maxBuffer: 1024 ** 3,
    });
    assert(logs.length > 1000);
    for (const secret of [password, OWN_PASSWORD, "mail-password"]) assert(!logs.includes(secret));
  });
}
