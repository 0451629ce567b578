// The dialogs of an instance's actions, for its page and for its row in a list.
import { useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import type { Instance } from "../../../shared/api/instances.ts";
import { lazily } from "../app/lazily.tsx";
import { backupPolicies, instances } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { RecordDialog } from "../resource/dialog/record-dialog.tsx";
import { useWasEver } from "../resource/page/use-was-ever.ts";
import { useAct } from "./use-act.ts";

const BackUp = lazily(async () => (await import("../backups/back-up.tsx")).BackUp, "backupDialogs");
const RestoreAny = lazily(async () => (await import("../backups/restore.tsx")).RestoreAny, "backupDialogs", "backups");
const PolicyForm = lazily(async () => (await import("../policies/form.tsx")).PolicyForm, "policies");
const ChangeDomain = lazily(async () => (await import("./change-domain.tsx")).ChangeDomain);
const DeleteInstance = lazily(async () => (await import("./delete.tsx")).DeleteInstance);
const ResourceAlerts = lazily(async () => (await import("../alerts/resource-alerts.tsx")).ResourceAlerts, "alerts");
const EditInstance = lazily(async () => (await import("./edit.tsx")).EditInstance);
const Interrupt = lazily(async () => (await import("./interrupt.tsx")).Interrupt);
const ApiCallDialog = lazily(async () => (await import("../resource/dialog/api-call.tsx")).ApiCallDialog);

const DIALOGS = [
  "back-up",
  "restore",
  "policy",
  "start",
  "stop",
  "restart",
  "edit",
  "domain",
  "delete",
  "start-call",
  "tell",
] as const;
export type Dialog = (typeof DIALOGS)[number];

/** Undefined for what is no dialog, such as a link. */
export const dialogNamed = (name: string | null): Dialog | undefined => DIALOGS.find((each) => each === name);

interface Props {
  dialog: Dialog;
  instance: Instance;
  onDeleting: () => void;
  onDismiss: () => void;
}

export function InstanceDialog({ dialog, onDeleting, ...props }: Props) {
  if (dialog === "delete") return <DeleteInstance {...props} onDeleting={onDeleting} />;
  if (dialog === "start" || dialog === "stop" || dialog === "restart") return <Interrupt action={dialog} {...props} />;
  const Asking = OTHERS[dialog];
  return <Asking {...props} />;
}

type OneProps = Pick<Props, "instance" | "onDismiss">;

/** The dialog of a listed instance, whose record lacks some of the fields that dialogs need. */
export const DialogOfListed = ({
  instance: { id, name },
  ...props
}: Omit<Props, "instance"> & { instance: Pick<Instance, "id" | "name"> }) => (
  <RecordDialog title={name} question={instances.one(id)} onDismiss={props.onDismiss}>
    {(instance) => <InstanceDialog {...props} instance={instance} />}
  </RecordDialog>
);

const BackUpOne = (props: OneProps) => <BackUp {...props} />;

function Policy({ instance, onDismiss }: OneProps) {
  const question = backupPolicies.of(instance.id);
  const { data, error } = useQuery(question);
  // The form asks again whether there is one, and stays meanwhile.
  const isKnown = useWasEver(data !== undefined || isMissing(error));
  const policy = isMissing(error) ? undefined : data?.data; // the cache keeps one that was deleted
  if (isKnown) return <PolicyForm instance={instance} policy={policy} onDismiss={onDismiss} />;
  return (
    <RecordDialog title={instance.name} question={question} onDismiss={onDismiss}>
      {() => null}
    </RecordDialog>
  );
}

function StartCall({ instance, onDismiss }: OneProps) {
  const { send } = useAct(instance, "start");
  return <ApiCallDialog title={text.instances.actions.startCallTitle(instance.name)} send={send} onDismiss={onDismiss} />;
}

const AlertsOfInstance = ({ instance: { id, name }, onDismiss }: OneProps) => (
  <ResourceAlerts type="instance" id={id} name={name} onDismiss={onDismiss} />
);

const OTHERS: Record<Exclude<Dialog, "start" | "stop" | "restart" | "delete">, ComponentType<OneProps>> = {
  "back-up": BackUpOne,
  restore: RestoreAny,
  policy: Policy,
  edit: EditInstance,
  domain: ChangeDomain,
  "start-call": StartCall,
  tell: AlertsOfInstance,
};
