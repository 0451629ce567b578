// A secret that the page shows only once: the user can leave only after confirming that it is saved.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useBeforeUnload, useBlocker } from "react-router";

interface Props {
  title: string;
  /** The kind of value: "API key", "admin password". */
  what: string;
  value: string;
  /** What belongs to it, such as the login for a password. */
  children?: ReactNode;
  onStored: () => void;
}

export function SecretOnce({ title, what, value, children, onStored }: Props) {
  const [stored, setStored] = useState(false);
  const [urged, setUrged] = useState(false);
  useStayUntil(stored, () => setUrged(true));
  return (
    <Modal
      visible
      header={title}
      // Neither the close button nor Escape closes it early.
      onDismiss={() => (stored ? onStored() : setUrged(true))}
      footer={
        <Box float="right">
          <Button variant="primary" disabled={!stored} onClick={onStored}>
            Done
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">Copy the {what} now. You won't be able to see it again.</Alert>
        {children}
        <output className="secret" aria-label={what}>
          {value}
        </output>
        <CopyToClipboard
          textToCopy={value}
          copyButtonText={`Copy ${what}`}
          copySuccessText="Copied"
          copyErrorText="Couldn't copy. Select the text and copy it manually."
        />
        <FormField errorText={urged && !stored && "Save it first, then tick this box."}>
          <Checkbox checked={stored} onChange={({ detail }) => setStored(detail.checked)}>
            I've saved the {what}
          </Checkbox>
        </FormField>
      </SpaceBetween>
    </Modal>
  );
}

/** Neither the Back button nor closing the tab loses it without a warning. */
function useStayUntil(free: boolean, onLeaving: () => void): void {
  const blocker = useBlocker(!free);
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    blocker.reset();
    onLeaving();
  });
  useBeforeUnload(
    useCallback(
      (event) => {
        if (!free) event.preventDefault();
      },
      [free],
    ),
  );
}
