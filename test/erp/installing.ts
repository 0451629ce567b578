// A machine becomes a server, and an ERP is installed on it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { ADMIN, type Chain, COLLEAGUE, DATABASE, DOMAIN, type Shop } from "./context.ts";
import { fetchPage, signIn } from "./erp.ts";
import { requirePlainRole, requireSecureSession } from "./house.ts";
import { SHOP } from "./service.ts";

export async function install({
  machine,
  service,
  client,
  guarantee,
  survives,
  instanceOf,
  siteOf,
  enter,
}: Chain): Promise<Shop> {
  await guarantee("the script passes shellcheck", async () =>
    execFileSync("shellcheck", ["-"], { input: hostScript(), stdio: ["pipe", "inherit", "inherit"] }),
  );
  await guarantee(
    "its firewall accepts only SSH and the web, blocks containers from the metadata address, and can be set twice",
    async () => {
      const script = join(machine.root, "checked.sh");
      writeFileSync(script, hostScript());
      const rules = execFileSync(
        "unshare",
        ["-n", "bash", "-c", 'source "$0" probe; raise_firewall; raise_firewall; nft list ruleset', script],
        {
          env: { ...machine.environment, ERP_HOSTING_SYSTEM: machine.system, SSH_CONNECTION: "10.0.0.1 5000 10.0.0.2 2222" },
          encoding: "utf8",
        },
      );
      assert.match(rules, /policy drop;[^]*\ttcp dport \{ (22, )?80, 443, 2222 \} accept/);
      assert.match(rules, /ip daddr \{ 168\.63\.129\.16, 169\.254\.0\.0\/16 \} drop/);
      assert.equal(rules.match(/chain input/g)?.length, 1);
      assert.match(rules, /tcp dport 25 drop/);
    },
  );

  const server = await guarantee("a machine becomes a server, although its preparation is killed midway", async () => {
    const { data } = await client.servers.create({ body: service.serverBody });
    await survives(data.operation_id, "prepareHost", 0.3);
    const record = (await client.servers.get({ params: { id: data.id } })).data;
    assert.equal(record.status, "active");
    assert.match(readFileSync(join(machine.system, "root/.ssh/authorized_keys"), "utf8"), /^ssh-ed25519 /m);
    return record;
  });

  const { shop, password } = await guarantee(
    "an ERP is installed and responds although its installation is killed midway",
    async () => {
      const { data } = await client.instances.create({ body: { ...SHOP, server_id: server.id } });
      await survives(data.operation_id, "installErp", 8);
      const instance = await instanceOf(data.id);
      assert.equal(instance.status, "running");
      assert(data.admin_password, "No password is shown");
      return { shop: instance, password: data.admin_password };
    },
  );

  const erp = await guarantee(
    "its administrator can sign in over HTTPS with the password that was shown, and with no other",
    async () => {
      assert.equal(await signIn(siteOf(DOMAIN), { database: DATABASE, login: ADMIN, password: `${password}x` }), undefined);
      return enter(shop, password);
    },
  );
  await guarantee("the machine reports its free disk and memory, and the certificate that its proxy serves", async () => {
    await service.check();
    const { disk_free_bytes, memory_free_bytes } = (await client.servers.get({ params: { id: server.id } })).data;
    assert(disk_free_bytes !== null && disk_free_bytes > 0 && memory_free_bytes !== null && memory_free_bytes > 0);
    const { certificate } = await instanceOf(shop.id);
    assert.equal(certificate.status, "valid");
    assert(certificate.expires_at !== null && Date.parse(certificate.expires_at) > Date.now());
  });
  await guarantee("its session cookie and browsers stay on HTTPS", () => requireSecureSession(siteOf(DOMAIN)));
  await guarantee("its database role owns its database and nothing else", async () =>
    requirePlainRole(machine, shop.id, DATABASE),
  );
  await guarantee("its live connection works through the proxy", async () => assert.equal(await erp.websocket(), 101));
  await guarantee("its database manager is unreachable, however the URL is written", async () => {
    for (const path of [
      "/web/database/manager",
      "/web/database/selector",
      "//web/database/manager",
      "/WEB/database/manager",
      "/web/%64atabase/manager",
    ])
      assert.equal((await fetchPage(siteOf(DOMAIN), path)).status, 403, path);
  });
  await guarantee("no command line on the machine contains its passwords", async () => {
    const secrets = readFileSync(join(machine.root, "instances", shop.id, "odoo.conf"), "utf8").match(
      /(?<=^(?:db_password|admin_passwd) = ).+/gm,
    );
    assert.equal(secrets?.length, 2);
    const commands = execFileSync("ps", ["-ewwo", "args"], { encoding: "utf8" });
    for (const secret of [password, ...(secrets ?? [])]) assert(!commands.includes(secret));
  });

  const bytes = randomBytes(300_000);
  const written = await guarantee("records and a file can be written", async () => {
    const customer = await erp.create("res.partner", { name: "First customer", email: "first@example.com" });
    const attachment = await erp.create("ir.attachment", { name: "contract.bin", datas: bytes.toString("base64") });
    const mail = await erp.create("ir.mail_server", {
      name: "Mail",
      smtp_host: "smtp.example.com",
      smtp_user: "shop",
      smtp_pass: "mail-password",
      smtp_authentication: "login",
      smtp_encryption: "none",
    });
    assert.deepEqual(await erp.file(attachment), bytes);
    await erp.create("res.users", { name: "Colleague", login: COLLEAGUE.login, password: COLLEAGUE.password });
    return { customer, attachment, mail };
  });
  const uuid = await erp.parameter("database.uuid");
  return { server, shop, password, erp, uuid, bytes, written };
}
