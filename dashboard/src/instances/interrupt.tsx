// Asks before an instance stops or restarts, which disconnects its users, or before a failed start is tried again.
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog/dialog.tsx";
import { Forecast } from "../resource/dialog/forecast.tsx";
import { useAct } from "./use-act.ts";

const EFFECTS = { start: "erp_started", stop: "erp_stopped", restart: "erp_restarted" } as const;

interface Props {
  action: "start" | "stop" | "restart";
  instance: Instance;
  onDismiss: () => void;
}

export function Interrupt({ action, instance, onDismiss }: Props) {
  const act = useAct(instance, action);
  const say = text.instances.interrupt[action];
  return (
    <Dialog
      title={say.title(instance.name)}
      confirm={say.confirm}
      pending={act.isPending}
      error={act.error}
      send={act.send}
      onConfirm={() => act.mutate(undefined, { onSuccess: onDismiss })}
      onDismiss={onDismiss}
    >
      <Forecast
        words={{ [EFFECTS[action]]: say.effect }}
        rehearse={() => client.instances.act.dryRun({ params: { id: instance.id }, body: { action } })}
        of={[instance.id, action]}
        returns={action === "restart"}
      />
    </Dialog>
  );
}
