// Instances with code that is deployed, for the tests of deploys.
import { Deploy } from "../../shared/api/deploys.ts";
import { Instance } from "../../shared/api/instances.ts";
import { type TestAccount, unique } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";

/** Of an account and a token of it, which a file has only once its hooks have run. */
export function deploysOf(world: () => { me: TestAccount; api: Client }) {
  const dataOf = async (id: string) => JSON.parse((await world().api.get(`/sandbox/instances/${id}/data`)).text).data as unknown;
  const show = async (id: string) => (await world().api.get(`/instances/${id}`)).as(Instance);
  const readDeploy = async (id: string) => (await world().api.get(`/deploys/${id}`)).as(Deploy);
  const put = (name: string, modules: Record<string, string>, ref = "main") =>
    world().api.put(`/sandbox/repositories/${name}`, { ref, modules });

  /** An instance with code at this ref, which is deployed. */
  async function prepared(ref = "main", fields: Record<string, unknown> = {}) {
    const { id } = await world().me.instance(fields);
    const name = unique("repo");
    await put(name, { acme: "1.0", other: "1.0" });
    const repositories = [{ url: `https://git.example/${name}`, ref: "main" }];
    await world().api.put(`/instances/${id}/code`, { repositories, install_modules: ["acme"] });
    await world().api.put(`/sandbox/instances/${id}/data`, { orders: 1 });
    const first = await deployed(id, { rehearse: false, backup_first: false });
    await put(name, { acme: "1.1", other: "1.1" });
    await world().api.put(`/instances/${id}/code`, { repositories: [{ ...repositories[0], ref }] });
    return { id, name, first };
  }

  async function deployed(id: string, body: object = {}) {
    const { operation_id, id: deployId } = (await world().api.post(`/instances/${id}/deploys`, body)).as(Deploy);
    await world().me.until(operation_id);
    return readDeploy(deployId);
  }

  return { dataOf, show, readDeploy, put, prepared, deployed };
}
