// Asks before the user leaves a page that is still doing something.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useCallback } from "react";
import { useBeforeUnload, useBlocker } from "react-router";
import { text } from "../messages/text.ts";

export function LeaveGuard({ active }: { active: boolean }) {
  const blocker = useBlocker(active);
  useBeforeUnload(
    useCallback(
      (event) => {
        if (active) event.preventDefault();
      },
      [active],
    ),
  );
  if (blocker.state !== "blocked") return null;
  const say = text.uploads.leaving;
  return (
    <Modal
      visible
      header={say.title}
      onDismiss={() => blocker.reset()}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => blocker.proceed()}>
              {say.leave}
            </Button>
            <Button variant="primary" onClick={() => blocker.reset()}>
              {say.stay}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      {say.about}
    </Modal>
  );
}
