// Asks before an instance stops or restarts, which disconnects its users.
import Box from "@cloudscape-design/components/box";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { Dialog } from "../resource/dialog.tsx";
import { Forecast } from "../resource/forecast.tsx";
import { useAct } from "./use-act.ts";

const WORDS = {
  stop: { verb: "Stop", effect: "Users can't sign in until you start it again. No data is lost." },
  restart: { verb: "Restart", effect: "Users are disconnected for a moment and lose unsaved changes." },
};

interface Props {
  action: "stop" | "restart";
  instance: Instance;
  onDismiss: () => void;
}

export function Interrupt({ action, instance, onDismiss }: Props) {
  const act = useAct(instance, action);
  const { verb, effect } = WORDS[action];
  return (
    <Dialog
      title={`${verb} ${instance.name}?`}
      confirm={verb}
      pending={act.isPending}
      error={act.error}
      onConfirm={() => act.mutate(undefined, { onSuccess: onDismiss })}
      onDismiss={onDismiss}
    >
      <Box>{effect}</Box>
      <Forecast
        rehearse={() => client.instances.act.dryRun({ params: { id: instance.id }, body: { action } })}
        of={[instance.id, action]}
        returns={action === "restart"}
      />
    </Dialog>
  );
}
