// The actions of an instance: immediate ones, and those with a dialog that the page opens.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useNavigate } from "react-router";
import type { Instance } from "../../../shared/api/instances.ts";
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
  const more = [
    { id: "edit", text: say.edit, ...disabled(whyNotEdit(instance)) },
    { id: "domain", text: say.domain, ...disabled(whyNot("update", instance, server)) },
    { id: "clone", text: say.clone },
    { id: "start-call", text: say.startCall },
    { id: "tell", text: text.resource.tell },
    { id: "delete", text: say.delete, ...disabled(whyNot("delete", instance, server)) },
  ];
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <Button href={instance.url} target="_blank" iconName="external" iconAlign="right" ariaLabel={say.openOf(instance.name)}>
        {say.open}
      </Button>
      <Action variant="primary" disabledReason={whyNot("backup", instance, server)} onClick={() => onAsk("back-up")}>
        {say.backUp}
      </Action>
      <Action disabledReason={whyNot("restore", instance, server)} onClick={() => onAsk("restore")}>
        {say.restore}
      </Action>
      <Action disabledReason={whyNot("start", instance, server)} pending={start.isPending} onClick={() => start.mutate()}>
        {say.start}
      </Action>
      <Action disabledReason={whyNot("stop", instance, server)} onClick={() => onAsk("stop")}>
        {say.stop}
      </Action>
      <Action disabledReason={whyNot("restart", instance, server)} onClick={() => onAsk("restart")}>
        {say.restart}
      </Action>
      <ButtonDropdown
        items={more}
        onItemClick={({ detail }) => {
          if (detail.id === "clone") void navigate(`/instances/${instance.id}/clone`);
          const dialog = dialogNamed(detail.id);
          if (dialog !== undefined) onAsk(dialog);
        }}
      >
        {say.title}
      </ButtonDropdown>
    </SpaceBetween>
  );
}

const disabled = (disabledReason: string | undefined) => disabledReason !== undefined && { disabled: true, disabledReason };
