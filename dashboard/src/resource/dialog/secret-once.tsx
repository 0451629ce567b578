// A secret that the page shows only once: the user can leave only after confirming that it is saved.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import { text } from "../../messages/text.ts";
import { useStayUntil } from "../page/stay.ts";

interface Props {
  title: string;
  /** The kind of value: "API key", "admin password". */
  valueName: string;
  value: string;
  /** What belongs to it, such as the login for a password. */
  children?: ReactNode;
  onStored: () => void;
}

export function SecretOnce({ title, valueName, value, children, onStored }: Props) {
  const say = text.resource.secret;
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
            {say.done}
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">{say.warning(valueName)}</Alert>
        {children}
        <output className="secret" aria-label={valueName}>
          {value}
        </output>
        <CopyToClipboard
          textToCopy={value}
          copyButtonText={text.resource.copy.copy(valueName)}
          copySuccessText={text.resource.copy.copied}
          copyErrorText={text.resource.copy.failed}
        />
        <FormField errorText={urged && !stored && say.saveFirst}>
          <Checkbox checked={stored} onChange={({ detail }) => setStored(detail.checked)}>
            {say.saved(valueName)}
          </Checkbox>
        </FormField>
      </SpaceBetween>
    </Modal>
  );
}
