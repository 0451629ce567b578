// One deploy: how far it is, what it has found and changed, its log, and the way back to it.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useParams } from "react-router";
import type { Deploy } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { OperationErrorCode } from "../../../shared/api/errors.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { DEPLOY_STATUS, OPEN_DEPLOYS, REHEARSAL } from "../../../shared/domain/lifecycle.ts";
import { type ReasonCode, reasonIn } from "../../../shared/domain/reasons.ts";
import { whyNot } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { Page } from "../app/page.tsx";
import { deploys, instances, operations } from "../app/queries.ts";
import { spanInWords } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Outcome } from "../operations/outcome.tsx";
import { isOpen } from "../operations/watch-store.ts";
import { useOperation } from "../operations/watch.ts";
import { StartedBy } from "../operations/started-by.tsx";
import { Action } from "../resource/page/action.tsx";
import { Copyable } from "../resource/words/copyable.tsx";
import { Loaded } from "../resource/page/loaded.tsx";
import { formatTime } from "../resource/words/moment.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";
import { Section } from "../resource/page/section.tsx";
import { sentenceOf } from "../resource/words/sentence.ts";
import { Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { shortCommit, triggerInWords } from "./words.ts";

const WorkLog = lazily(async () => (await import("../operations/work-log.tsx")).WorkLog);
const Rollback = lazily(async () => (await import("./rollback.tsx")).Rollback);

const TAB = "?tab=code";
/** A step says more than the deploy only every few seconds. */
const DEPLOY_POLL_MS = 3_000;

export default function DeployDetail() {
  const { id = "" } = useParams();
  return (
    <Loaded kind={text.code.deploys.one} above={[]} question={deploys.one(id)}>
      {(deploy) => <Shown key={deploy.id} deploy={deploy} />}
    </Loaded>
  );
}

const isRunning = ({ status }: Deploy): boolean => OPEN_DEPLOYS.some((each) => each === status);

function Shown({ deploy: loaded }: { deploy: Deploy }) {
  const { data } = useQuery({ ...deploys.one(loaded.id), refetchInterval: isRunning(loaded) && DEPLOY_POLL_MS });
  const deploy = data?.data ?? loaded;
  const { data: response } = useQuery(instances.one(deploy.instance_id));
  const instance = response?.data;
  const page = `/instances/${deploy.instance_id}${TAB}`;
  return (
    <Page
      title={text.code.deploys.at(formatTime(deploy.created_at))}
      above={[
        { text: text.shell.navigation.instances, href: "/instances" },
        { text: instance?.name ?? deploy.instance_id, href: page },
      ]}
      actions={instance !== undefined && deploy.status === DEPLOY_STATUS.completed && <Back {...{ deploy, instance }} />}
    >
      <SpaceBetween size="l">
        <Facts deploy={deploy} instance={instance} />
        <Commits deploy={deploy} />
        {deploy.modules !== null && <Modules deploy={deploy} modules={deploy.modules} />}
        {deploy.log_excerpt !== null && <Excerpt text={deploy.log_excerpt} />}
        <Log operationId={deploy.operation_id} />
      </SpaceBetween>
    </Page>
  );
}

function Back({ deploy, instance }: { deploy: Deploy; instance: ShownInstance }) {
  const [open, setOpen] = useState(false);
  const server = instance.server ?? undefined;
  return (
    <>
      <Action needs={INSTANCE_NEEDS.deploy} disabledReason={whyNot("deploy", instance, server)} onClick={() => setOpen(true)}>
        {text.code.rollback.action}
      </Action>
      {open && <Rollback deploy={deploy} instance={instance} onDismiss={() => setOpen(false)} />}
    </>
  );
}

interface Found {
  label: string;
  /** Null if the deploy has found, or done, nothing of that kind so far. */
  value: ReactNode;
  none: string;
}

/** Leaves out what is still to come while the deploy is in progress. */
const unlessToCome = <T,>(deploy: Deploy, value: unknown, item: T): T[] => (value === null && isRunning(deploy) ? [] : [item]);

/** Leaves out what is still to come, too. After a failed deploy that may not have been put back, nobody knows the value. */
function foundBy(deploy: Deploy, operation: Operation | undefined, { label, value, none }: Found) {
  const isUncertain = deploy.status === DEPLOY_STATUS.failed && !isPutBack(operation);
  return unlessToCome(deploy, value, { label, value: value ?? (isUncertain ? text.code.detail.unknown : none) });
}

const UNDO_FAILED = "undo_failed" satisfies ReasonCode;
const UNREACHABLE = "HOST_UNREACHABLE" satisfies OperationErrorCode;

/** On a machine that did not respond, the undo may have done nothing. An operation is not kept as long as its deploy. */
const isPutBack = (operation: Operation | undefined): boolean =>
  operation !== undefined && operation.error?.code !== UNREACHABLE && operation.error?.reason?.code !== UNDO_FAILED;

function Facts({ deploy, instance }: { deploy: Deploy; instance: ShownInstance | undefined }) {
  const say = text.code.detail;
  const { columns } = text.code.deploys;
  const { backup_id, downtime_seconds, failed_step, image, note } = deploy;
  const { data } = useQuery(operations.one(deploy.operation_id));
  const operation = data?.data;
  const steps: Readonly<Record<string, string>> = text.operations.steps;
  return (
    <Section title={say.facts}>
      <SpaceBetween size="m">
        <KeyValuePairs
          columns={3}
          minColumnWidth={200}
          items={[
            { label: columns.status, value: <Status of="deploy" status={deploy.status} /> },
            {
              label: say.instance,
              value: <Link to={`/instances/${deploy.instance_id}${TAB}`}>{instance?.name ?? deploy.instance_id}</Link>,
            },
            { label: say.by, value: <Starter deploy={deploy} /> },
            { label: columns.when, value: <Time at={deploy.created_at} exact /> },
            ...unlessToCome(deploy, deploy.rehearsal, { label: say.rehearsal, value: <Rehearsal of={deploy.rehearsal} /> }),
            ...foundBy(deploy, operation, {
              label: say.downtime,
              value: downtime_seconds === null ? null : spanInWords(downtime_seconds),
              none: say.noDowntime,
            }),
            ...unlessToCome(deploy, backup_id, {
              label: say.backup,
              value: backup_id === null ? say.noBackup : <Link to={`/backups?backup=${backup_id}`}>{say.showBackup}</Link>,
            }),
            ...foundBy(deploy, operation, {
              label: say.image,
              value: image === null ? null : say.imageOf(<Time at={image.created_at} exact />),
              none: say.sameImage,
            }),
            ...(note === null ? [] : [{ label: say.note, value: <Wrapped>{note}</Wrapped> }]),
            ...(failed_step === null ? [] : [{ label: say.failedStep, value: steps[failed_step] ?? failed_step }]),
            { label: say.id, value: <Copyable value={deploy.id} valueName={say.id} code /> },
          ]}
        />
        {operation !== undefined && <Outcome operation={operation} onOwnPage ofDeployPage />}
      </SpaceBetween>
    </Section>
  );
}

const Starter = ({ deploy: { trigger, created_by } }: { deploy: Deploy }) => (
  <>
    {triggerInWords(trigger)}: <StartedBy actor={created_by} />
  </>
);

/** The record has the sentence alone. */
const sentenceOfError = (error: string): string => sentenceOf(reasonIn(error), error);

function Rehearsal({ of: rehearsal }: { of: Deploy["rehearsal"] }) {
  const say = text.code.detail;
  if (rehearsal === null) return say.noRehearsal;
  const { status, duration_seconds: seconds, error } = rehearsal;
  if (status === "passed" && seconds !== null)
    return <StatusIndicator type="success">{say.passed(spanInWords(seconds))}</StatusIndicator>;
  return (
    <>
      <Status of="rehearsal" status={status} />
      {error !== null && (
        <div>{status === REHEARSAL.skipped ? sentenceOfError(error).replace(say.toGoOn, "") : sentenceOfError(error)}</div>
      )}
    </>
  );
}

function Commits({ deploy }: { deploy: Deploy }) {
  const say = text.code.detail;
  const { commits } = deploy;
  const short = (commit: string) => <code className="code">{shortCommit(commit)}</code>;
  return (
    <Section title={say.commits}>
      {commits.length === 0 ? (
        <Box color="text-status-inactive">{isRunning(deploy) ? say.noCommits : say.withoutCommits}</Box>
      ) : (
        <KeyValuePairs
          columns={1}
          items={commits.map(({ url, ref, commit, previous_commit: before, subject }) => ({
            label: `${url} (${ref})`,
            value: (
              <Wrapped>
                {before === null ? say.first(short(commit)) : say.fromTo(short(before), short(commit))}
                {subject !== null && <div>{subject}</div>}
              </Wrapped>
            ),
          }))}
        />
      )}
    </Section>
  );
}

function Modules({ deploy, modules }: { deploy: Deploy; modules: NonNullable<Deploy["modules"]> }) {
  const say = text.code.detail;
  const { python_packages: packages } = deploy;
  const list = (names: readonly string[]) => <Wrapped>{names.length === 0 ? say.noModules : names.join(", ")}</Wrapped>;
  return (
    <Section title={say.modules}>
      <KeyValuePairs
        columns={2}
        minColumnWidth={250}
        items={[
          { label: say.updated, value: list(modules.updated) },
          { label: say.installed, value: list(modules.installed) },
          { label: say.notInstalled, value: list(modules.changed_but_not_installed) },
          ...unlessToCome(deploy, packages.length === 0 ? null : packages, { label: say.packages, value: list(packages) }),
        ]}
      />
    </Section>
  );
}

/** Written by the customer's code: it is shown as text. */
const Excerpt = ({ text: lines }: { text: string }) => (
  <Section title={text.code.detail.excerpt}>
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus, or the keyboard cannot scroll it */}
    <pre className="log" role="region" aria-label={text.code.detail.excerpt} tabIndex={0}>
      {lines}
    </pre>
  </Section>
);

/** Live while it runs. */
function Log({ operationId }: { operationId: string }) {
  const { data } = useQuery(operations.one(operationId));
  const operation = useOperation(operationId) ?? data?.data;
  if (operation === undefined) return null;
  if (isOpen(operation)) return <WorkLog operation={operation} />;
  return (
    <OnDemand title={text.operations.log.title} description={text.operations.log.about}>
      <WorkLog operation={operation} />
    </OnDemand>
  );
}
