// The button that tries a failed operation again: its dialog, or the page with the form of what it would have created.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { useNavigate } from "react-router";
import { OPERATION } from "../../../shared/domain/lifecycle.ts";
import { useFollow } from "../app/follow.ts";
import { BACKUP_NEEDS, INSTANCE_NEEDS, SERVER_NEEDS } from "../allowed/needs.ts";
import { useNoteLeftOut } from "../app/left-out.ts";
import { type Need, needsOf, useMissing } from "../app/may.tsx";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";
import { type Failed, workOf } from "../operations/words.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";

const RetryDialog = lazily(
  async () => (await import("./retry-dialog.tsx")).RetryDialog,
  "backups",
  "backupDialogs",
  "code",
  "instances",
  "reports",
  "servers",
);

/** What has no dialog of its own; what only a newer service knows has none either. */
function pageFor({ type, resource: { id } }: Failed): string | undefined {
  switch (type) {
    case "instance.check_code":
      return `/instances/${id}?tab=code`;
    case "server.create":
      return `/servers/create?again=${id}`;
    case "instance.create":
    case "instance.clone":
      return `/instances/create?like=${id}`;
    case "backup.import":
      return `/backups?backup=${id}`;
    default:
      return undefined;
  }
}

/** What has a dialog, and what the dialog's request needs. */
const IN_DIALOG: Readonly<Record<string, readonly Need[]>> = {
  "server.delete": SERVER_NEEDS.delete,
  "server.reboot": SERVER_NEEDS.reboot,
  "server.update": SERVER_NEEDS.update,
  "instance.start": INSTANCE_NEEDS.start,
  "instance.stop": INSTANCE_NEEDS.stop,
  "instance.restart": INSTANCE_NEEDS.restart,
  "instance.update": INSTANCE_NEEDS.domain,
  "instance.deploy": INSTANCE_NEEDS.deploy,
  "instance.delete": INSTANCE_NEEDS.delete,
  "backup.create": INSTANCE_NEEDS.backup,
  "backup.delete": BACKUP_NEEDS.delete,
  "backup.drill": BACKUP_NEEDS.drill,
  "backup.restore": BACKUP_NEEDS.restore,
};

/** What it takes to try it again; undefined: there is nothing to try. */
function needsToRetry(operation: Failed): readonly Need[] | undefined {
  const page = pageFor(operation);
  if (operation.status !== OPERATION.failed) return undefined;
  return page === undefined ? IN_DIALOG[operation.type] : needsOf(page);
}

const nameOf = ({ resource }: Failed): string => resource.name ?? resource.id;

/** The same in a row's menu. */
export function RetryMenu({ operation }: { operation: Failed }) {
  const [asking, setAsking] = useState(false);
  const navigate = useNavigate();
  const page = pageFor(operation);
  const needs = needsToRetry(operation);
  return (
    <>
      <RowMenu
        label={text.resource.list.actionsOn(`${workOf(operation.type).name}, ${nameOf(operation)}`)}
        items={needs === undefined ? [] : [{ id: "retry", text: text.operations.retry, needs }]}
        onChoose={() => (page === undefined ? setAsking(true) : void navigate(page))}
      />
      {asking && <RetryDialog operation={operation} onDismiss={() => setAsking(false)} />}
    </>
  );
}

/** `variant`: among the buttons of a page, not in a row. */
export function Retry({ operation, variant = "inline-link" }: { operation: Failed; variant?: "inline-link" | "normal" }) {
  const [asking, setAsking] = useState(false);
  const follow = useFollow();
  const missing = useMissing();
  const page = pageFor(operation);
  const needs = needsToRetry(operation);
  const lacking = needs && missing(...needs);
  useNoteLeftOut(lacking);
  if (needs === undefined || lacking !== undefined) return null;
  return (
    <>
      <Button
        variant={variant}
        wrapText={false}
        ariaLabel={text.operations.retryOf(workOf(operation.type).name, nameOf(operation))}
        {...(page === undefined ? { onClick: () => setAsking(true) } : { href: page, onFollow: follow })}
      >
        {text.operations.retry}
      </Button>
      {asking && <RetryDialog operation={operation} onDismiss={() => setAsking(false)} />}
    </>
  );
}
