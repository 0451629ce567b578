// The API call behind an action: the request that the dialog would send, as a line for the shell and as one for the typed client.
import Box from "@cloudscape-design/components/box";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { requestOf, type Send } from "../../app/client.ts";
import { text } from "../../messages/text.ts";
import { clientLine, curlLine, isForSessions } from "./call-lines.ts";

/** `send` is what the dialog calls when it is confirmed. */
export function ApiCall({ send }: { send: Send }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection
      headerText={text.resource.apiCall.show}
      expanded={open}
      onChange={({ detail }) => setOpen(detail.expanded)}
    >
      {open && <Lines send={send} />}
    </ExpandableSection>
  );
}

/** Shows the API call of an action without a dialog of its own. */
export function ApiCallDialog({ title, send, onDismiss }: { title: string; send: Send; onDismiss: () => void }) {
  return (
    <Modal visible header={title} onDismiss={onDismiss}>
      <Lines send={send} />
    </Modal>
  );
}

function Lines({ send }: { send: Send }) {
  const say = text.resource.apiCall;
  const request = requestOf(send);
  if (isForSessions(request)) return <Box>{say.sessionsOnly}</Box>;
  return (
    <SpaceBetween size="s">
      <Line kind="curl" line={curlLine(request)} />
      <Line kind="TypeScript" line={clientLine(request)} />
      <Box variant="small" color="text-body-secondary">
        {say.token}
        {request.headers["idempotency-key"] !== undefined && ` ${say.idempotencyKey}`}
      </Box>
    </SpaceBetween>
  );
}

const Line = ({ kind, line }: { kind: "curl" | "TypeScript"; line: string }) => (
  <div>
    <CopyToClipboard
      variant="icon"
      textToCopy={line}
      copyButtonAriaLabel={text.resource.apiCall.copy(kind)}
      copySuccessText={text.resource.copy.copied}
      copyErrorText={text.resource.copy.failed}
    />{" "}
    <Box variant="strong">{kind}</Box>
    {/* A keyboard scrolls it, too. */}
    <pre className="call" tabIndex={0} role="region" aria-label={text.resource.apiCall.call(kind)}>
      {line}
    </pre>
  </div>
);
