// The actions of an instance: immediate ones, and those with a dialog that the page opens.
import { useNavigate } from "react-router";
import type { Instance } from "../../../shared/api/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { text } from "../messages/text.ts";
import { PageActions } from "../resource/page/page-actions.tsx";
import { type ServerOf, whyNot, whyNotEdit } from "../allowed/instances.ts";
import { type Dialog, dialogNamed } from "./dialogs.tsx";

interface Props {
  instance: Instance;
  server: ServerOf | undefined;
  start: { isPending: boolean; mutate: () => void };
  onAsk: (dialog: Dialog) => void;
}

const BUTTONS = ["backup", "restore", "start", "stop", "restart"] as const;

export function Actions({ instance, server, start, onAsk }: Props) {
  const say = text.instances.actions;
  const navigate = useNavigate();
  const choose = (id: string): void => {
    if (id === "clone") void navigate(`/instances/${instance.id}/clone`);
    else if (id === "start") start.mutate();
    const dialog = id === "start" ? undefined : dialogNamed(id === "backup" ? "back-up" : id);
    if (dialog !== undefined) onAsk(dialog);
  };
  return (
    <PageActions
      actions={[
        { id: "open", text: say.open, button: "normal", needs: [], href: instance.url, ariaLabel: say.openOf(instance.name) },
        ...BUTTONS.map((id) => ({
          id,
          text: id === "backup" ? say.backUp : say[id],
          button: id === "backup" ? ("primary" as const) : ("normal" as const),
          needs: INSTANCE_NEEDS[id],
          disabledReason: whyNot(id, instance, server),
          pending: id === "start" && start.isPending,
        })),
        { id: "edit", text: say.edit, needs: INSTANCE_NEEDS.edit, disabledReason: whyNotEdit(instance) },
        { id: "domain", text: say.domain, needs: INSTANCE_NEEDS.domain, disabledReason: whyNot("update", instance, server) },
        { id: "clone", text: say.clone, needs: INSTANCE_NEEDS.clone },
        { id: "start-call", text: say.startCall, needs: INSTANCE_NEEDS["start-call"] },
        { id: "tell", text: text.resource.tell, needs: INSTANCE_NEEDS.tell },
        { id: "delete", text: say.delete, needs: INSTANCE_NEEDS.delete, disabledReason: whyNot("delete", instance, server) },
      ]}
      onChoose={choose}
    />
  );
}
