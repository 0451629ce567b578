// What an instance's ERP has besides its image: read for a backup of it, and shown of an instance that was made of one.
import { randomBytes } from "node:crypto";
import { ApiError, notFound } from "../api/errors.ts";
import { now, startChange } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { find } from "../data/table.ts";
import { check } from "../data/writes.ts";
import { databaseVersions, getPlan } from "./deploys.ts";
import { type BackupCode, CodeRecord } from "./schemas/code.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import type { OperationRecord } from "./schemas/operation.ts";

type Instance = Pick<InstanceRecord, "account_id" | "id">;

/** Undefined if it has only its image. Holds as long as the instance is held. */
export async function readDeployedCode({ account_id, id }: Instance): Promise<BackupCode | undefined> {
  const record = await find({ key: keys.code(account_id, id), schema: CodeRecord });
  if (record?.deployed == null) return undefined;
  const { deploy_id, commits, code_id, ...deployed } = record.deployed;
  const plan = await getPlan(account_id, deploy_id);
  const { code } = plan;
  const { python_packages = code.python_packages } = deployed;
  if (commits.length + python_packages.length + code.environment.length === 0) return undefined;
  return { code, commits, python_packages, versions: databaseVersions(plan), instance_id: id, code_id };
}

/**
 * Shows that a new instance has this code. It was no deploy, so that the operation that has brought it stands for one. What a
 * request has set since the instance was created stays. Nothing is left of an instance that was deleted meanwhile.
 */
export async function recordCopiedCode(
  { id: operationId }: OperationRecord,
  { account_id, id }: Instance,
  { code, commits, python_packages, versions }: BackupCode,
): Promise<void> {
  const change = startChange({ id: account_id });
  const { repositories, allow_source_builds, install_modules, environment } = code;
  change.write(check(keys.record("instance", account_id, id), {}, () => notFound("instance")));
  change.update(
    keys.code(account_id, id),
    {
      set: {
        account_id,
        instance_id: id,
        revision: randomBytes(9).toString("base64url"),
        deployed: { deploy_id: operationId, code_id: operationId, commits, python_packages },
      },
      fill: {
        repositories,
        python_packages: code.python_packages,
        allow_source_builds,
        install_modules,
        environment,
        updated_at: now(),
      },
    },
    { exists: false },
  );
  const plan = { code: { ...code, instance_id: id }, select: "changed", versions };
  change.update(keys.deployPlan(account_id, operationId), { set: plan }, { exists: false });
  try {
    await change.commit();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "NOT_FOUND") throw error;
  }
}
