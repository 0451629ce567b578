// The beginning of a check of an instance's code, and of a deploy: by a request, or after a push.
import { codeInCheck, erpNotInstalled, instanceBeingDeleted } from "../../api/errors.ts";
import { keys } from "../../data/keys.ts";
import { newId } from "../../domain/ids.ts";
import { LIFECYCLE } from "../../domain/lifecycle.ts";
import type { Selection } from "../../domain/module-plan.ts";
import { retainBackup } from "../../records/backups.ts";
import { reserveDeploy } from "../../records/deploys.ts";
import { moveInstance, requireServerUsable } from "../../records/instances.ts";
import { type Beginning, changing, reserveOperation } from "../../records/operations.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { CodeRecord } from "../../records/schemas/code.ts";
import type { DeployRecord } from "../../records/schemas/deploy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { chooseImage, type Rollback } from "./rollbacks.ts";

/** Holds nothing, one at a time for each instance. */
export function beginCheck(
  { change, by, operationId }: Beginning,
  instance: InstanceRecord,
  { trust_new_host_keys = false }: { trust_new_host_keys?: boolean | undefined } = {},
): OperationRecord {
  const { state, installed } = instance;
  if (!installed) throw erpNotInstalled(state);
  if (state === LIFECYCLE["instance.delete"].through) throw instanceBeingDeleted(state);
  requireServerUsable(change, instance);
  change.put(keys.codeCheck(change.accountId, instance.id), { operation_id: operationId }, (current) =>
    codeInCheck(String(current?.["operation_id"])),
  );
  return reserveOperation(change, by, {
    id: operationId,
    type: "instance.check_code",
    ...changing("instance", instance),
    input: { trust_new_host_keys },
  });
}

interface Wanted {
  select: Selection;
  rehearse: boolean;
  backup_first: boolean;
  update_image: boolean;
  note: string | null;
  rollback?: Rollback | undefined;
  /** What the data of a rollback comes back from. */
  backup?: BackupRecord | undefined;
}

/** Holds the instance, which must allow a deploy. */
export function beginDeploy(
  { change, by, operationId }: Beginning,
  { instance, code }: { instance: InstanceRecord; code: CodeRecord },
  { select, rehearse, backup_first, update_image, note, rollback, backup }: Wanted,
): { deploy: DeployRecord; operation: OperationRecord } {
  moveInstance(change, instance, { type: "instance.deploy", operationId });
  if (backup !== undefined) retainBackup(change, backup.id, operationId);
  const image = chooseImage(instance, code, { update_image, rollback });
  const earlier = image === "newest" ? undefined : image;
  const modules = typeof select === "string" ? select : [...select];
  const choices = { modules, rehearse, backup_first, update_image };
  const deploy = reserveDeploy(change, by, code, { operationId, choices, note, rollback, image: earlier });
  const safety_backup_id = newId("backup");
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: "instance.deploy",
    ...changing("instance", instance),
    input: {
      server_id: instance.server_id,
      deploy_id: deploy.id,
      safety_backup_id,
      rehearse,
      backup_first,
      update_image: image !== undefined,
      restore_database: backup !== undefined,
      ...(backup !== undefined && { data_backup_id: backup.id }),
    },
    ...(backup !== undefined && { usesBackupId: backup.id }),
    concerns: backup_first ? [safety_backup_id] : [],
    result: { deploy_id: deploy.id },
  });
  return { deploy, operation };
}
