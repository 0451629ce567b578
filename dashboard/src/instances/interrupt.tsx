// Asks before an instance is stopped or restarted, which throws out whoever works in it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Instance } from "../../../shared/api/instances.ts";
import { Failure } from "../app/failure.tsx";
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
    <Modal
      visible
      header={`${verb} ${instance.name}?`}
      onDismiss={onDismiss}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onDismiss}>
              Cancel
            </Button>
            <Button variant="primary" loading={act.isPending} onClick={() => act.mutate(undefined, { onSuccess: onDismiss })}>
              {verb}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {act.error !== null && <Failure error={act.error} resend={() => act.mutate(undefined, { onSuccess: onDismiss })} />}
        <Box>{effect}</Box>
      </SpaceBetween>
    </Modal>
  );
}
