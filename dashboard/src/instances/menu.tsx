// The actions of one instance, in its row of a list.
import { useState } from "react";
import { useNavigate } from "react-router";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { whyNot, whyNotEdit, whyNotProtect } from "../allowed/instances.ts";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import type { Dialog } from "./dialogs.tsx";

const DialogOfListed = lazily(async () => (await import("./dialogs.tsx")).DialogOfListed);

export function InstanceMenu({ instance }: { instance: ListedInstance }) {
  const say = text.instances.actions;
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const server = instance.server ?? undefined;
  const can = (action: Parameters<typeof whyNot>[0]) => whyNot(action, instance, server);
  const items = [
    { id: "back-up", text: say.backUp, disabledReason: can("backup") },
    { id: "restore", text: say.restore, disabledReason: can("restore") },
    { id: "policy", text: say.policy, disabledReason: whyNotEdit(instance) ?? whyNotProtect(instance, server) },
    { id: "start", text: say.start, disabledReason: can("start") },
    { id: "stop", text: say.stop, disabledReason: can("stop") },
    { id: "restart", text: say.restart, disabledReason: can("restart") },
    { id: "edit", text: say.edit, disabledReason: whyNotEdit(instance) },
    { id: "domain", text: say.domain, disabledReason: can("update") },
    { id: "clone", text: say.clone },
    { id: "delete", text: say.delete, disabledReason: can("delete") },
  ] as const;
  const dismiss = () => setDialog(undefined);
  return (
    <>
      <RowMenu
        label={say.of(instance.name)}
        items={items.map((item) => ({ ...item, needs: INSTANCE_NEEDS[item.id] }))}
        onChoose={(id) => {
          const [chosen] = items.filter((item) => item.id === id).map((item) => item.id);
          if (chosen === "clone") void navigate(`/instances/${instance.id}/clone`);
          else setDialog(chosen);
        }}
      />
      {dialog !== undefined && <DialogOfListed dialog={dialog} instance={instance} onDeleting={dismiss} onDismiss={dismiss} />}
    </>
  );
}
