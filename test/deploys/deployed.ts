// Instances with code that is deployed, for the tests of deploys.
import { expect } from "vitest";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import type { OperationErrorCode } from "../../shared/api/errors.ts";
import { Instance } from "../../shared/api/instances.ts";
import { type TestAccount, unique } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";

/** Takes a function, because a file has its account and token only once its hooks have run. */
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

  /** The deploy of an instance at this ref fails so, and leaves its code and data as they were. */
  async function expectPutBack(
    ref: string,
    expected: { code: OperationErrorCode; failed_step: string; downtime_seconds: number | null; culprit?: string },
  ): Promise<void> {
    const { code, culprit, ...ended } = expected;
    const { id, name, first } = await prepared(ref);
    const { operation_id, id: deployId } = (await world().api.post(`/instances/${id}/deploys`, {})).as(Deploy);
    const { error } = await world().me.until(operation_id, "failed");
    expect(error).toMatchObject({ code });
    expect(error?.message).toContain(culprit ?? `https://git.example/${name}`);
    expect(await readDeploy(deployId)).toMatchObject({ status: "failed", ...ended });
    expect(await show(id)).toMatchObject({ status: "running", operation_id: null, status_reason: null });
    expect(await dataOf(id)).toEqual({ orders: 1, modules: { acme: "1.0" } });
    const { repositories } = (await world().api.get(`/instances/${id}/code`)).as(Code);
    expect(repositories[0]?.commit).toBe(first.commits[0]?.commit);
  }

  return { dataOf, show, readDeploy, put, prepared, deployed, expectPutBack };
}
