// The dialog of a failed operation's work, with the record as it is now.
import { useEffect } from "react";
import { useNavigate } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import type { Deploy } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { backups, deploys, instances, servers } from "../app/queries.ts";
import { BackUp } from "../backups/back-up.tsx";
import { DeleteBackup } from "../backups/delete.tsx";
import { Restore } from "../backups/restore.tsx";
import { RunDrill } from "../backups/run-drill.tsx";
import { toValues } from "../code/deploy-fields.tsx";
import { StartDeploy } from "../code/start-deploy.tsx";
import { ChangeDomain } from "../instances/change-domain.tsx";
import { DeleteInstance } from "../instances/delete.tsx";
import { Interrupt } from "../instances/interrupt.tsx";
import { RecordDialog } from "../resource/dialog/record-dialog.tsx";
import { ActOnServer } from "../servers/act.tsx";
import { DeleteServer } from "../servers/delete.tsx";
import { type Failed, workOf } from "../operations/words.ts";

interface Props {
  operation: Failed;
  onDismiss: () => void;
}

export function RetryDialog({ operation: { type, resource, instance_id, result }, onDismiss }: Props) {
  const shared = { title: workOf(type).name, onDismiss };
  switch (type) {
    case "server.delete":
      return (
        <RecordDialog {...shared} question={servers.one(resource.id)}>
          {(server) => <DeleteServer server={server} onDismiss={onDismiss} />}
        </RecordDialog>
      );
    case "server.reboot":
    case "server.update":
      return (
        <RecordDialog {...shared} question={servers.one(resource.id)}>
          {(server) => <ActOnServer action={ON_SERVER[type]} server={server} onDismiss={onDismiss} />}
        </RecordDialog>
      );
    case "instance.start":
    case "instance.stop":
    case "instance.restart":
    case "instance.update":
    case "instance.delete":
      return (
        <RecordDialog {...shared} question={instances.one(resource.id)}>
          {(instance) => <OfInstance type={type} instance={instance} onDismiss={onDismiss} />}
        </RecordDialog>
      );
    case "instance.deploy":
      return result?.deploy_id === undefined ? (
        <RecordDialog {...shared} question={instances.one(resource.id)}>
          {(instance) => <StartDeploy instance={instance} onDismiss={onDismiss} />}
        </RecordDialog>
      ) : (
        <RecordDialog {...shared} question={deploys.one(result.deploy_id)}>
          {(deploy) => <RetryDeploy deploy={deploy} name={resource.name ?? resource.id} onDismiss={onDismiss} />}
        </RecordDialog>
      );
    case "backup.create":
      return <RetryBackup instanceId={instance_id} backup={resource} {...shared} />;
    default:
      return (
        <RecordDialog {...shared} question={backups.one(result?.backup_id ?? resource.id)}>
          {(backup) => <OfBackup type={type} backup={backup} onDismiss={onDismiss} />}
        </RecordDialog>
      );
  }
}

const ON_SERVER = { "server.reboot": "reboot", "server.update": "update" } as const;
const INTERRUPTIONS = { "instance.start": "start", "instance.stop": "stop", "instance.restart": "restart" } as const;

interface InstanceProps {
  type: keyof typeof INTERRUPTIONS | "instance.update" | "instance.delete";
  instance: ShownInstance;
  onDismiss: () => void;
}

function OfInstance({ type, ...props }: InstanceProps) {
  if (type === "instance.update") return <ChangeDomain {...props} />;
  if (type === "instance.delete") return <DeleteInstance {...props} onDeleting={props.onDismiss} />;
  return <Interrupt action={INTERRUPTIONS[type]} {...props} />;
}

/** A deploy as it was made. Where a rollback went back to is not stored: the list of deploys lets the user choose. */
function RetryDeploy({ deploy, name, onDismiss }: { deploy: Deploy; name: string; onDismiss: () => void }) {
  const navigate = useNavigate();
  const { instance_id: id } = deploy;
  const isRollback = deploy.trigger === "rollback";
  useEffect(() => {
    if (!isRollback) return;
    onDismiss();
    void navigate(`/instances/${id}?tab=code`);
  }, [isRollback, id, navigate, onDismiss]);
  if (isRollback) return null;
  return <StartDeploy instance={{ id, name }} begin={toValues(deploy)} onDismiss={onDismiss} />;
}

interface RetryBackupProps {
  title: string;
  instanceId: string | null;
  /** The one that failed. */
  backup: Failed["resource"];
  onDismiss: () => void;
}

/** Another backup needs only the note of the failed one, which may be deleted by now. */
function RetryBackup({ title, instanceId, backup: { id, name }, onDismiss }: RetryBackupProps) {
  if (instanceId === null) return null;
  const backUp = { instance: { id: instanceId, name: name ?? instanceId }, onDismiss };
  return (
    <RecordDialog title={title} question={backups.one(id)} onDismiss={onDismiss} otherwise={<BackUp {...backUp} />}>
      {({ note }) => <BackUp note={note} {...backUp} />}
    </RecordDialog>
  );
}

function OfBackup({ type, backup, onDismiss }: { type: Operation["type"]; backup: Backup; onDismiss: () => void }) {
  if (type === "backup.drill") return <RunDrill backup={backup} onDismiss={onDismiss} />;
  if (type === "backup.delete") return <DeleteBackup backup={backup} onDismiss={onDismiss} />;
  return type === "backup.restore" ? <Restore backup={backup} onDismiss={onDismiss} /> : null;
}
