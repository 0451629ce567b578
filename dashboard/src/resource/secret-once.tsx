// A secret that is shown this once: it is left only by who says that it is stored.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";

interface Props {
  title: string;
  /** What the value is: "API key", "admin password". */
  what: string;
  value: string;
  onStored: () => void;
}

export function SecretOnce({ title, what, value, onStored }: Props) {
  const [stored, setStored] = useState(false);
  return (
    <Modal
      visible
      header={title}
      // Neither the cross nor Escape lets the value go unseen.
      onDismiss={() => stored && onStored()}
      footer={
        <Box float="right">
          <Button variant="primary" disabled={!stored} onClick={onStored}>
            Done
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">This is the only time that the {what} is shown. It cannot be retrieved later.</Alert>
        <output className="secret" aria-label={what}>
          {value}
        </output>
        <CopyToClipboard
          textToCopy={value}
          copyButtonText={`Copy ${what}`}
          copySuccessText="Copied"
          copyErrorText="It could not be copied: select it, and copy it by hand"
        />
        <Checkbox checked={stored} onChange={({ detail }) => setStored(detail.checked)}>
          I have stored the {what}
        </Checkbox>
      </SpaceBetween>
    </Modal>
  );
}
