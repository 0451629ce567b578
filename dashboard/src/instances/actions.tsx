// The actions of an instance: immediate ones, and those with a dialog that the page opens.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useNavigate } from "react-router";
import type { Instance } from "../../../shared/api/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { useNoteLeftOut } from "../app/left-out.ts";
import { useMissing } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { Action } from "../resource/action.tsx";
import { type ServerOf, whyNot, whyNotEdit } from "../allowed/instances.ts";
import { type Dialog, dialogNamed } from "./dialogs.tsx";

interface Props {
  instance: Instance;
  server: ServerOf | undefined;
  start: { isPending: boolean; mutate: () => void };
  onAsk: (dialog: Dialog) => void;
}

export function Actions({ instance, server, start, onAsk }: Props) {
  const say = text.instances.actions;
  const navigate = useNavigate();
  const missing = useMissing();
  const more = [
    { id: "edit", text: say.edit, ...disabled(whyNotEdit(instance)) },
    { id: "domain", text: say.domain, ...disabled(whyNot("update", instance, server)) },
    { id: "clone", text: say.clone },
    { id: "start-call", text: say.startCall },
    { id: "tell", text: text.resource.tell },
    { id: "delete", text: say.delete, ...disabled(whyNot("delete", instance, server)) },
  ] as const;
  const offered = more.filter(({ id }) => missing(...INSTANCE_NEEDS[id]) === undefined);
  useNoteLeftOut(...more.map(({ id }) => missing(...INSTANCE_NEEDS[id])));
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <Button href={instance.url} target="_blank" iconName="external" iconAlign="right" ariaLabel={say.openOf(instance.name)}>
        {say.open}
      </Button>
      {(["backup", "restore", "start", "stop", "restart"] as const).map((action) => {
        const isStart = action === "start";
        const label = action === "backup" ? say.backUp : say[action];
        return (
          <Action
            key={action}
            needs={INSTANCE_NEEDS[action]}
            variant={action === "backup" ? "primary" : "normal"}
            disabledReason={whyNot(action, instance, server)}
            pending={isStart && start.isPending}
            onClick={() => (isStart ? start.mutate() : onAsk(action === "backup" ? "back-up" : action))}
          >
            {label}
          </Action>
        );
      })}
      {offered.length > 0 && (
        <ButtonDropdown
          items={offered}
          onItemClick={({ detail }) => {
            if (detail.id === "clone") void navigate(`/instances/${instance.id}/clone`);
            const dialog = dialogNamed(detail.id);
            if (dialog !== undefined) onAsk(dialog);
          }}
        >
          {say.title}
        </ButtonDropdown>
      )}
    </SpaceBetween>
  );
}

const disabled = (disabledReason: string | undefined) => disabledReason !== undefined && { disabled: true, disabledReason };
