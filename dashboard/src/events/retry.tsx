// The button that tries a failed operation again: its dialog, or the page with the form of what it would have created.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { OPERATION } from "../../../shared/domain/lifecycle.ts";
import { useFollow } from "../app/follow.ts";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";
import { type Failed, workOf } from "../operations/words.ts";

const RetryDialog = lazily(
  async () => (await import("./retry-dialog.tsx")).RetryDialog,
  "allowed",
  "backups",
  "backupDialogs",
  "instances",
  "reports",
  "servers",
);

/** What has no dialog of its own; what only a newer service knows has none either. */
function pageFor({ type, resource: { id } }: Failed): string | undefined {
  switch (type) {
    case "server.create":
      return `/servers/create?like=${id}`;
    case "instance.create":
    case "instance.clone":
      return `/instances/${id}`;
    case "backup.import":
      return `/backups?backup=${id}`;
    default:
      return undefined;
  }
}

const IN_DIALOG: readonly string[] = [
  "server.delete",
  "instance.start",
  "instance.stop",
  "instance.restart",
  "instance.update",
  "instance.delete",
  "backup.create",
  "backup.delete",
  "backup.drill",
  "backup.restore",
];

export function Retry({ operation }: { operation: Failed }) {
  const [asking, setAsking] = useState(false);
  const follow = useFollow();
  const page = pageFor(operation);
  if (operation.status !== OPERATION.failed || (page === undefined && !IN_DIALOG.includes(operation.type))) return null;
  const { type, resource } = operation;
  return (
    <>
      <Button
        variant="inline-link"
        wrapText={false}
        ariaLabel={text.operations.retryOf(workOf(type).name, resource.name ?? resource.id)}
        {...(page === undefined ? { onClick: () => setAsking(true) } : { href: page, onFollow: follow })}
      >
        {text.operations.retry}
      </Button>
      {asking && <RetryDialog operation={operation} onDismiss={() => setAsking(false)} />}
    </>
  );
}
