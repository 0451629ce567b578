// POST /instances
import { api } from "../../shared/api/index.ts";
import { forecastCreation } from "../../shared/data/forecasts.ts";
import { reserveInstance, toInstance } from "../../shared/data/instances.ts";
import { reserveOperation } from "../../shared/data/operations.ts";
import { firstPolicy } from "../../shared/data/policies.ts";
import { sealFor } from "../../shared/data/sealed.ts";
import { namedServer, requireUsable, serverRef } from "../../shared/data/servers.ts";
import { generatePassword } from "../../shared/domain/generated-password.ts";
import { requireErp } from "../../shared/providers/offers.ts";
import { catalog } from "../../shared/providers/catalog.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.create)(async ({ body, caller, by, read, commit }) => {
  const { change, account, operationId, ...records } = await beginWork(
    { caller, read },
    {
      server: serverRef(caller.account_id, body.server_id),
    },
  );
  requireErp(await catalog(), body);
  const server = namedServer(records.server);
  requireUsable(server);
  const policy = firstPolicy(change, server.id, account.default_backup_policy);
  const instance = reserveInstance(change, server, { ...body, ...policy }, operationId);
  const admin_password = generatePassword();
  await sealFor(change, operationId, admin_password);
  reserveOperation(change, by, {
    id: operationId,
    type: "instance.create",
    resource: { type: "instance", id: instance.id, name: instance.name },
  });
  return commit(change, { ...toInstance(instance, server), admin_password }, () => forecastCreation(instance));
});
