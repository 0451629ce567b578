// Instances that deploy what is pushed, for the tests of pushes.
import * as z from "zod";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import type { TestAccount } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { unique } from "../harness/unique.ts";

export const Hook = z.object({ hook_url: z.string().nullable() });

export const pushesOf = (me: TestAccount) => {
  /** The path of a new hook. */
  async function hookOf(id: string): Promise<string> {
    const { hook_url } = (await me.api.post(`/instances/${id}/code/rotate-hook`, {})).as(Hook);
    return new URL(hook_url ?? "").pathname.replace("/api/v1", "");
  }

  /** An instance that deploys what is pushed, of one repository. */
  async function following() {
    const { id } = await me.instance();
    const name = unique("push");
    const push = async (version: string) => {
      await me.api.put(`/sandbox/repositories/${name}`, { ref: "main", modules: { acme: version } });
      return anonymous.post(hook, { ref: "refs/heads/main" });
    };
    const hook = await hookOf(id);
    const repositories = [{ url: `https://git.example/${name}`, ref: "main" }];
    await me.api.put(`/instances/${id}/code`, { repositories, install_modules: ["acme"], auto_deploy: "push" });
    return { id, hook, push };
  }

  return {
    hookOf,
    following,
    codeOf: async (id: string) => (await me.api.get(`/instances/${id}/code`)).as(Code),
    deploysOf: async (id: string) => (await me.api.get(`/instances/${id}/deploys`)).as(Deploy.array()),
  };
};
