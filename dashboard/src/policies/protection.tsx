// Whether an instance's backups are taken as its policy says, and the policy itself.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BackupPolicy } from "../../../shared/api/backup-policy.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { backupPolicies } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { Deletion } from "../resource/deletion.tsx";
import { Status } from "../resource/status.tsx";
import { Time } from "../resource/time.tsx";
import { PolicyForm } from "./form.tsx";
import { keepInWords, scheduleInWords } from "./words.ts";

export function Protection({ instance }: { instance: Instance }) {
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const { data, error, refetch } = useQuery(backupPolicies.of(instance.id));
  const none = isMissing(error);
  const policy = none ? undefined : data?.data;
  const close = () => setDialog(undefined);
  return (
    <Container
      header={
        <Header
          variant="h2"
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              {policy !== undefined && <Button onClick={() => setDialog("delete")}>Delete policy</Button>}
              {(policy !== undefined || none) && (
                <Button onClick={() => setDialog("edit")}>{none ? "Set up automatic backups" : "Edit policy"}</Button>
              )}
            </SpaceBetween>
          }
        >
          Protection
        </Header>
      }
    >
      {error !== null && !none ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <State protection={instance.protection} policy={policy} none={none} />
      )}
      {dialog === "edit" && <PolicyForm instance={instance} policy={policy} onDismiss={close} />}
      {dialog === "delete" && (
        <Deletion
          title="Delete backup policy"
          confirm="Delete policy"
          send={() => client.backupPolicy.delete({ params: { id: instance.id } })}
          onDeleted={close}
          onDismiss={close}
        >
          {instance.name} will no longer be backed up automatically. Its backups are kept.
        </Deletion>
      )}
    </Container>
  );
}

interface StateProps {
  protection: Instance["protection"];
  policy: BackupPolicy | undefined;
  none: boolean;
}

const State = ({ protection, policy, none }: StateProps) => (
  <SpaceBetween size="m">
    <KeyValuePairs
      columns={3}
      minColumnWidth={200}
      items={[
        { label: "Status", value: <Status of="protection" status={protection.status} /> },
        { label: "Last backup", value: <Time at={protection.last_backup_at} none="None yet" /> },
        { label: "Next backup", value: <Time at={protection.next_backup_at} none="None scheduled" /> },
        ...(policy === undefined
          ? []
          : [
              { label: "Schedule", value: policy.enabled ? scheduleInWords(policy) : `Paused. ${scheduleInWords(policy)}` },
              { label: "Keeps", value: keepInWords(policy.keep) },
              { label: "Last run", value: <LastRun run={policy.last_run} /> },
            ]),
      ]}
    />
    {none && (
      <Box color="text-body-secondary">
        This instance is backed up only when somebody does it. A backup policy takes backups on a schedule and removes old ones.
      </Box>
    )}
  </SpaceBetween>
);

const OUTCOMES = { completed: "Completed", failed: "Failed", skipped: "Skipped" } as const;

function LastRun({ run }: { run: BackupPolicy["last_run"] }) {
  if (run === null) return "None yet";
  return (
    <>
      {OUTCOMES[run.status]}, due <Time at={run.at} />
      {run.reason !== null && `: ${run.reason}`}
    </>
  );
}
