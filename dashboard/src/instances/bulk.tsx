// What can be done with many instances at once.
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { LIFECYCLE } from "../../../shared/domain/lifecycle.ts";
import { whyNot, whyNotEdit, whyNotProtect } from "../allowed/instances.ts";
import { lazily } from "../app/lazily.tsx";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { BulkMenu, type Kind } from "../bulk/menu.tsx";
import type { SelectedProps } from "../resource/list/use-selection.ts";

/** What the operation that holds it makes of it decides, unless that is its deletion. */
const isWaitedFor = ({ operation_id, status }: ListedInstance): boolean =>
  operation_id !== null && status !== LIFECYCLE["instance.delete"].through;

const can = (action: "start" | "stop" | "restart" | "backup" | "deploy" | "delete") =>
  [
    action,
    (instance: ListedInstance) => (isWaitedFor(instance) ? undefined : whyNot(action, instance, instance.server ?? undefined)),
  ] as const;

const DeployDialog = lazily(async () => (await import("../code/bulk-dialog.tsx")).DeployDialog, "code");
const PolicyDialog = lazily(async () => (await import("../policies/bulk-dialog.tsx")).PolicyDialog, "policies");

const INSTANCES: Kind<ListedInstance> = {
  one: "instance",
  needs: INSTANCE_NEEDS,
  nameOf: ({ name }) => name,
  actions: [
    can("start"),
    can("stop"),
    can("restart"),
    can("backup"),
    can("deploy"),
    ["set_policy", (instance) => whyNotEdit(instance) ?? whyNotProtect(instance, instance.server ?? undefined)],
    ["delete_policy", whyNotEdit],
    ["set_labels", whyNotEdit],
    can("delete"),
  ],
  dialogs: { set_policy: PolicyDialog, deploy: DeployDialog },
};

export const InstancesBulk = (props: SelectedProps<ListedInstance>) => <BulkMenu kind={INSTANCES} {...props} />;
