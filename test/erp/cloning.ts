// Clones: neutralized with an identity of their own, and one that replaces the original.
import assert from "node:assert/strict";
import { totalmem } from "node:os";
import { type BackedUp, type Chain, COLLEAGUE, OWN_PASSWORD } from "./context.ts";
import { signIn } from "./erp.ts";
import { requireApart, requireLimits } from "./house.ts";
import { isGone } from "./service.ts";

export async function clone(
  { machine, client, guarantee, succeeds, survives, instanceOf, siteOf, enter }: Chain,
  { shop, password, uuid, bytes, written, backup }: BackedUp,
): Promise<void> {
  await guarantee(
    "a clone is neutralized and verified, has its own identity and the file, and does not change the original",
    async () => {
      const { data } = await client.instances.clone({
        params: { id: shop.id },
        body: { name: "Staging", domain: "staging.example.com", backup_id: backup.id },
      });
      const operation = await survives(data.operation_id, "neutralize", 0.5);
      assert.deepEqual(operation.result?.verification, {
        is_neutralized: true,
        active_crons: 0,
        active_mail_servers: 0,
        new_database_uuid: true,
        base_url: "https://staging.example.com",
      });
      const clone = await instanceOf(data.id);
      assert.deepEqual([clone.status, clone.neutralized], ["running", true]);
      const copy = await enter(clone, data.admin_password ?? "");
      assert.notEqual(await copy.parameter("database.uuid"), uuid);
      assert.equal(await signIn(siteOf(clone.domain), { database: clone.database_name, ...COLLEAGUE }), undefined);
      requireLimits(machine, [shop.id, clone.id], totalmem());
      requireApart(machine, shop.id, clone.id);
      requireApart(machine, clone.id, shop.id);
      assert.deepEqual(await copy.file(written.attachment), bytes);
      assert.deepEqual(
        await copy.search("ir.mail_server", [
          ["id", "=", written.mail],
          ["active", "=", true],
        ]),
        [],
      );
      assert.deepEqual(await copy.search("ir.mail_server", [["smtp_pass", "!=", false]]), []);
      const original = await enter(shop, password);
      assert.equal(await original.parameter("database.uuid"), uuid);
      assert.deepEqual(
        await original.search("ir.mail_server", [
          ["smtp_pass", "=", "mail-password"],
          ["active", "=", true],
        ]),
        [written.mail],
      );
      await succeeds((await client.instances.delete({ params: { id: clone.id } })).data.id);
    },
  );

  await guarantee("a clone that is not neutralized keeps its mail server, and still has its own identity", async () => {
    const { data } = await client.instances.clone({
      params: { id: shop.id },
      body: {
        name: "Twin",
        domain: "twin.example.com",
        backup_id: backup.id,
        neutralize: false,
        admin_password: OWN_PASSWORD,
      },
    });
    const { result } = await survives(data.operation_id, "personalize", 0.8);
    assert.deepEqual([result?.verification?.is_neutralized, result?.verification?.new_database_uuid], [false, true]);
    assert((result?.verification?.active_crons ?? 0) > 0);
    const twin = await instanceOf(data.id);
    const copy = await enter(twin, OWN_PASSWORD);
    assert(await signIn(siteOf(twin.domain), { database: twin.database_name, ...COLLEAGUE }), "its users stay");
    assert.deepEqual(
      await copy.search("ir.mail_server", [
        ["smtp_pass", "=", "mail-password"],
        ["active", "=", true],
      ]),
      [written.mail],
    );
    assert.deepEqual(await copy.file(written.attachment), bytes);
    const { data: removal } = await client.instances.delete({ params: { id: twin.id } });
    await survives(removal.id, "removeErp", 0.2);
    assert(await isGone(() => client.instances.get({ params: { id: twin.id } })));
    assert(!machine.docker("ps", "-a", "--format", "{{.Names}}").includes(twin.id));
    assert(!machine.docker("volume", "ls").includes(twin.id));
  });
}
