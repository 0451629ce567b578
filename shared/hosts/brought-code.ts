// Bringing a backup's code to where its data is restored: to a new instance, and to a drill.
import type { BroughtCode } from "./host.ts";
import { openEnvironment, openRepositories } from "../records/code-secrets.ts";
import type { BackupCode } from "../records/schemas/code.ts";

/** Returns the code in plain text, for the job on the machine. */
export async function toBroughtCode({ code, commits, python_packages, instance_id, code_id }: BackupCode): Promise<BroughtCode> {
  const repositories = await openRepositories(code);
  return {
    repositories: repositories.flatMap((repository) => {
      const { url, ref, path } = repository;
      const match = commits.find((each) => each.url === url && each.ref === ref && each.path === path);
      return match === undefined ? [] : [{ ...repository, commit: match.commit }];
    }),
    packages: python_packages,
    allow_source_builds: code.allow_source_builds,
    environment: await openEnvironment(code),
    from: code_id === undefined ? undefined : { instance_id, code_id },
  };
}
