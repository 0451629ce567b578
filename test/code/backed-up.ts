// Instances with code, their backups, and repositories that go on.
import { Backup } from "../../shared/api/backups.ts";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import type { TestAccount } from "../harness/account.ts";

/** Takes a function, because a file has its account only once its hooks have run. */
export function backupsOfCode(account: () => TestAccount) {
  let last = 0;
  const repositoryName = () => `backup-${Date.now().toString(36)}-${++last}`;
  const put = (name: string, modules: Record<string, string>) =>
    account().api.put(`/sandbox/repositories/${name}`, { ref: "main", modules });
  const dataOf = async (id: string) =>
    JSON.parse((await account().api.get(`/sandbox/instances/${id}/data`)).text).data as unknown;
  const codeOf = async (id: string) => (await account().api.get(`/instances/${id}/code`)).as(Code);
  async function deploy(id: string): Promise<Deploy> {
    const newDeploy = (await account().api.post(`/instances/${id}/deploys`, { rehearse: false, backup_first: false })).as(Deploy);
    await account().until(newDeploy.operation_id);
    return (await account().api.get(`/deploys/${newDeploy.id}`)).as(Deploy);
  }

  /** An instance with the module `acme` in version 1.0, its backup, and a repository that is newer by now. */
  async function backedUp() {
    const { id } = await account().instance();
    const name = repositoryName();
    await put(name, { acme: "1.0" });
    const repositories = [{ url: `https://git.example/${name}`, ref: "main" }];
    const environment = [
      { name: "CARRIER_URL", value: "https://carrier.example" },
      { name: "CARRIER_KEY", secret: "very-secret" },
    ];
    const python_packages = ["num2words>=0.5"];
    await account().api.put(`/instances/${id}/code`, { repositories, environment, python_packages, install_modules: ["acme"] });
    const [commit] = (await deploy(id)).commits;
    // The backup is not a seeded one, because that would be of no code.
    const backup = (await account().api.post(`/instances/${id}/backups`, {})).as(Backup);
    await account().until(backup.operation_id);
    await put(name, { acme: "2.0" });
    return { id, name, backupId: backup.id, commit: commit?.commit ?? "" };
  }

  return { dataOf, codeOf, deploy, backedUp };
}
