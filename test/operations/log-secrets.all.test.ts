// The logs that operations keep, and the secrets of the code that has run meanwhile. A simulated job prints nothing but
// what it is called, so the secrets are words of that.
import { expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account, unique } from "../harness/account.ts";

const SECRET = "Simulated";
const Log = z.object({ text: z.string() });

test("the log of an operation has no secret of the code of its instance, or of its backup, wherever it is printed", async () => {
  const me = await account({ seeded: true });
  const read = async (operation: string) => (await me.api.get(`/operations/${operation}/log`)).as(Log).text;
  const { id } = await me.instance();
  const name = unique("logged");
  await me.api.put(`/sandbox/repositories/${name}`, { ref: "main", modules: { acme: "1.0" } });
  const repositories = [{ url: `https://git.example/${name}`, ref: "main" }];
  const environment = [{ name: "CARRIER_KEY", secret: SECRET }];
  await me.api.put(`/instances/${id}/code`, { repositories, environment, install_modules: ["acme"] });
  const deploy = (await me.api.post(`/instances/${id}/deploys`, { rehearse: false, backup_first: false })).as(Deploy);
  await me.until(deploy.operation_id);
  const backup = (await me.api.post(`/instances/${id}/backups`, {})).as(Backup);
  await me.until(backup.operation_id);
  for (const action of ["restart", "stop", "start"]) {
    const operation = (await me.api.post(`/instances/${id}/actions`, { action })).as(Operation);
    await me.until(operation.id);
    expect(await read(operation.id), action).toMatch(new RegExp(`^# ${action}_erp\\n\\[redacted\\]: ${action} erp\\n`));
  }
  const drill = (await me.api.post(`/backups/${backup.id}/drill`, {})).as(Operation);
  await me.until(drill.id);
  expect(await read(drill.id)).toContain("[redacted]: drill archive");
  // The backup's code, whatever the instance has by now.
  await me.api.put(`/instances/${id}/code`, { environment: [] });
  const again = (await me.api.post(`/backups/${backup.id}/drill`, {})).as(Operation);
  await me.until(again.id);
  expect(await read(again.id)).not.toContain(SECRET);
});

test("the log of a deploy has no secret of the code that it brings, whatever the instance's code has by then", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const deploy = async (body: object): Promise<{ id: string; log: string }> => {
    const newDeploy = (await me.api.post(`/instances/${id}/deploys`, { rehearse: false, backup_first: false, ...body })).as(
      Deploy,
    );
    await me.until(newDeploy.operation_id);
    return { id: newDeploy.id, log: (await me.api.get(`/operations/${newDeploy.operation_id}/log`)).as(Log).text };
  };
  const setSecret = (environment: object[]) => me.api.put(`/instances/${id}/code`, { environment });
  await setSecret([{ name: "CARRIER_KEY", secret: SECRET }]);
  const first = await deploy({});
  await setSecret([]);
  expect((await deploy({})).log).toContain(SECRET);
  const back = await deploy({ rollback_to: first.id });
  expect(back.log).toMatch(/\[redacted\]: update modules/);
  expect(back.log).not.toContain(SECRET);
});
