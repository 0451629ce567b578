// Whether an instance's backups are taken as its policy says, and the policy itself.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { BackupPolicy } from "../../../shared/api/policy-shown.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { type ServerOf, whyNotProtect } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { backupPolicies } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Action } from "../resource/page/action.tsx";
import { Section } from "../resource/page/section.tsx";
import { sentenceOf } from "../resource/words/sentence.ts";
import { Status } from "../resource/words/status.tsx";
import { Time, Times } from "../resource/words/time.tsx";
import { Kept } from "./kept.tsx";
import { drillsInWords, keepInWords, scheduleInWords } from "./words.ts";
import { lazily } from "../app/lazily.tsx";

const Deletion = lazily(async () => (await import("../resource/dialog/deletion.tsx")).Deletion);
const PolicyForm = lazily(async () => (await import("./form.tsx")).PolicyForm);

interface Props {
  instance: Instance;
  server: ServerOf | undefined;
  /** The picture of its backups. */
  children: ReactNode;
}

export function Protection({ instance, server, children }: Props) {
  const say = text.policies.protection;
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const { data, error, refetch } = useQuery(backupPolicies.of(instance.id));
  const none = isMissing(error);
  const policy = none ? undefined : data?.data;
  const close = () => setDialog(undefined);
  return (
    <Section
      title={say.title}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          {policy !== undefined && (
            <Action needs={INSTANCE_NEEDS.policy} disabledReason={undefined} onClick={() => setDialog("delete")}>
              {say.delete}
            </Action>
          )}
          {(policy !== undefined || none) && (
            <Action
              needs={INSTANCE_NEEDS.policy}
              disabledReason={whyNotProtect(instance, server)}
              onClick={() => setDialog("edit")}
            >
              {none ? say.setUp : say.edit}
            </Action>
          )}
        </SpaceBetween>
      }
    >
      {error !== null && !none ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <State protection={instance.protection} policy={policy} none={none} />
      )}
      {children}
      {dialog === "edit" && <PolicyForm instance={instance} policy={policy} onDismiss={close} />}
      {dialog === "delete" && (
        <Deletion
          of={instance.id}
          title={say.deleteTitle(instance.name)}
          confirm={say.delete}
          send={() => client.backupPolicy.delete({ params: { id: instance.id } })}
          onDeleted={close}
          onDismiss={close}
        >
          {say.deleteAbout}
        </Deletion>
      )}
    </Section>
  );
}

interface StateProps {
  protection: Instance["protection"];
  policy: BackupPolicy | undefined;
  none: boolean;
}

function State({ protection, policy, none }: StateProps) {
  const say = text.policies.protection;
  // The first is the next backup.
  const later = policy?.next_runs.filter((at) => at !== protection.next_backup_at) ?? [];
  return (
    <SpaceBetween size="m">
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: say.status, value: <Status of="protection" status={protection.status} /> },
          { label: say.last, value: <Time at={protection.last_backup_at} exact none={say.noLast} /> },
          { label: say.next, value: <Time at={protection.next_backup_at} exact none={say.noNext} /> },
          ...(policy === undefined
            ? []
            : [
                { label: say.schedule, value: policy.enabled ? scheduleInWords(policy) : say.paused(scheduleInWords(policy)) },
                ...(later.length === 0 ? [] : [{ label: say.nextRuns, value: <Times times={later} none={say.noNext} /> }]),
                {
                  label: say.keeps,
                  value: (
                    <>
                      {keepInWords(policy.keep)}
                      <Kept keep={policy.keep} />
                    </>
                  ),
                },
                { label: say.drills, value: drillsInWords(policy.drill_every_days) },
                { label: say.lastRun, value: <LastRun run={policy.last_run} /> },
              ]),
        ]}
      />
      {none && <Box color="text-body-secondary">{say.none}</Box>}
    </SpaceBetween>
  );
}

function LastRun({ run }: { run: BackupPolicy["last_run"] }) {
  const say = text.policies.protection;
  return run === null
    ? say.noLastRun
    : say.run(run.status, <Time at={run.at} exact />, run.reason === null ? null : sentenceOf(run.reason_details, run.reason));
}
