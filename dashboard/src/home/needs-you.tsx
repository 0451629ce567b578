// What needs a person, in one list: what, why, since when, and the button that mends it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Alert } from "../../../shared/api/alerts.ts";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { BACKUP_NEEDS, INSTANCE_NEEDS } from "../allowed/needs.ts";
import { Failure } from "../app/failure.tsx";
import { useFollow } from "../app/follow.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import { subjectOf } from "../operations/pages.ts";
import { Retry } from "../events/retry.tsx";
import { workOf } from "../operations/words.ts";
import { Section } from "../resource/page/section.tsx";
import { errorInWords, reasonInWords } from "../resource/words/sentence.ts";
import { Time } from "../resource/words/time.tsx";
import { SHOWN } from "./failures.ts";
import { LinkAction, DialogAction } from "./need-actions.tsx";
import { type Need, NeedItem } from "./need.tsx";
import type { useNeeds } from "./needs.ts";

const AlertNeeds = lazily(async () => (await import("./alert-needs.tsx")).AlertNeeds, "alerts");
const BackUp = lazily(async () => (await import("../backups/back-up.tsx")).BackUp, "backupDialogs");
const DrillNewest = lazily(
  async () => (await import("../backups/drill-newest.tsx")).DrillNewest,
  "backups",
  "backupDialogs",
  "servers",
);

function ofOperation(operation: Operation): Need {
  const { id, request_id: requestId, type, error, finished_at, created_at } = operation;
  return {
    id,
    requestId,
    title: workOf(type).failed,
    page: `/operations/${id}`,
    resource: subjectOf(operation),
    explanation: error && errorInWords(error),
    since: finished_at ?? created_at,
    action: <Retry operation={operation} />,
  };
}

/** A later drill that passes closes the alert: of the newest backup, which is the one to rely on. */
const ofDrill = ({ id, resource, opened_at }: Alert): Need => ({
  id,
  title: text.operations.drillFailed,
  resource,
  since: opened_at,
  action: (
    <DialogAction
      needs={BACKUP_NEEDS.drill}
      label={text.operations.retry}
      ariaLabel={text.operations.retryOf(workOf("backup.drill").name, resource.name)}
    >
      {(onDismiss) => <DrillNewest instance={resource} onDismiss={onDismiss} />}
    </DialogAction>
  ),
});

function ofServer(server: ListedServer): Need {
  const { id, name, reported_at, updated_at } = server;
  return {
    id,
    title: text.home.needs.offline,
    resource: { type: "server", id, name },
    explanation: reasonInWords(server),
    since: reported_at ?? updated_at,
    action: <LinkAction href={`/servers/${id}`} label={text.home.needs.show} ariaLabel={text.home.needs.showOf(name)} />,
  };
}

const ofFullDisk = ({ id, name }: ListedServer, since: string | null): Need => ({
  id: `disk ${id}`,
  title: text.home.needs.diskFull,
  resource: { type: "server", id, name },
  since,
  action: (
    <LinkAction
      href={`/servers/${id}?tab=metrics`}
      label={text.home.needs.acts.charts}
      ariaLabel={text.home.needs.actOn(text.home.needs.acts.charts, name)}
    />
  ),
});

const ofOverdue = ({ id, name, protection }: ListedInstance, since: string | null): Need => ({
  id,
  title: text.home.needs.overdue,
  resource: { type: "instance", id, name },
  explanation: text.home.needs.lastBackup(<Time at={protection.last_backup_at} none={text.home.needs.never} />),
  since,
  action: (
    <DialogAction needs={INSTANCE_NEEDS.backup} label={text.home.needs.backUp} ariaLabel={text.home.needs.backUpOf(name)}>
      {(onDismiss) => <BackUp instance={{ id, name }} onDismiss={onDismiss} />}
    </DialogAction>
  ),
});

const serverIn = ({ type, id }: Operation["resource"]): string | undefined => (type === "server" ? id : undefined);

interface Props {
  needs: ReturnType<typeof useNeeds>;
  /** How many instances have an overdue backup, or no protection at all. */
  overdue: number;
  unprotected: number;
  hints: HintsProps;
}

interface HintsProps {
  /** The number of instances for which there is a newer image. */
  updates: number;
  /** The number of servers that need a reboot. */
  reboots: number;
}

/** What can wait, and is no reason to say that there is something to do. */
function Hints(counts: HintsProps) {
  const say = text.home.needs;
  const follow = useFollow();
  const hints = [
    { count: counts.updates, words: say.updates, href: "/instances?image=newer", show: say.showUpdates },
    { count: counts.reboots, words: say.reboots, href: "/servers?reboot=needed", show: say.showReboots },
  ];
  return hints
    .filter(({ count }) => count > 0)
    .map(({ count, words, href, show }) => (
      <li key={href} className="need">
        <StatusIndicator type="info">{words(count)}</StatusIndicator>
        <Button variant="inline-link" href={href} onFollow={follow}>
          {show}
        </Button>
      </li>
    ));
}

export function NeedsYou({ needs, overdue, unprotected, hints }: Props) {
  const say = text.home.needs;
  const follow = useFollow();
  const failures = [...needs.failures.map(ofOperation), ...needs.drills.map(ofDrill)].toSorted((a, b) =>
    String(a.since) < String(b.since) ? 1 : -1,
  );
  const shownFailures = failures.slice(0, SHOWN);
  // A failure that the page shows says the reason, too.
  const isTold = ({ id }: ListedServer | ListedInstance): boolean =>
    needs.failures.some(
      (failure) =>
        shownFailures.some((each) => each.id === failure.id) &&
        id === (failure.type === "backup.create" ? failure.instance_id : serverIn(failure.resource)),
    );
  // Disks that are only low can wait: a card of their own names them.
  const fullDisks = needs.lowDisks.filter(({ isAlmostFull }) => isAlmostFull);
  const entries = [
    ...needs.offline.filter((server) => !isTold(server)).map(ofServer),
    ...fullDisks.slice(0, SHOWN).map(({ server, since }) => ofFullDisk(server, since)),
    ...needs.overdue.filter(({ instance }) => !isTold(instance)).map(({ instance, since }) => ofOverdue(instance, since)),
    ...shownFailures,
  ];
  const isIdle = entries.length + needs.alerts.length + needs.expiring.length === 0 && unprotected === 0 && needs.error === null;
  return (
    <Section title={say.title}>
      <SpaceBetween size="m">
        {needs.error !== null && <Failure error={needs.error} retry={needs.retry} />}
        {isIdle && (needs.isPending ? <Spinner /> : <Box color="text-body-secondary">{say.nothing}</Box>)}
        {(!isIdle || hints.updates + hints.reboots > 0) && (
          <ul className="plain" aria-label={say.title}>
            {entries.map((need) => (
              <NeedItem key={need.id} need={need} />
            ))}
            {needs.alerts.length > 0 && <AlertNeeds alerts={needs.alerts.slice(0, SHOWN)} />}
            {needs.expiring.slice(0, SHOWN).map(({ id, name, expires_at }) => (
              <li key={id} className="need">
                <StatusIndicator type="warning">{say.keyExpires(name, <Time at={expires_at} />)}</StatusIndicator>
                <Button variant="inline-link" href="/settings/api-keys" onFollow={follow}>
                  {say.keys}
                </Button>
              </li>
            ))}
            {unprotected > 0 && (
              <li className="need">
                <StatusIndicator type="warning">{say.unprotected(unprotected)}</StatusIndicator>
                <Button variant="inline-link" href="/instances?protection=unprotected" onFollow={follow}>
                  {say.protect}
                </Button>
              </li>
            )}
            <Hints {...hints} />
          </ul>
        )}
        {overdue > SHOWN && <Link to="/instances?protection=overdue">{say.allOverdue(overdue)}</Link>}
        {needs.alerts.length > SHOWN && <Link to="/alerts">{say.allAlerts}</Link>}
        {failures.length > SHOWN && <Link to="/operations?status=failed">{say.allFailures}</Link>}
      </SpaceBetween>
    </Section>
  );
}
