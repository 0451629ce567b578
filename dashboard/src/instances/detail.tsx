// One instance: how it is and how it is protected, its backups, its operations, its settings, and its actions.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { isFailure } from "../../../shared/domain/lifecycle.ts";
import { canCreateAgain, isNeverInstalled, type ServerOf, whyNot } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { Failure } from "../app/failure.tsx";
import { useFollow } from "../app/follow.ts";
import { May, Missing, useMissing } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Progress } from "../operations/progress.tsx";
import { Protection } from "../policies/protection.tsx";
import { BackupStrip } from "../backups/strip.tsx";
import { ShownDetails } from "../backups/shown-details.tsx";
import { WhenInView } from "../resource/page/when-in-view.tsx";
import { Loaded } from "../resource/page/loaded.tsx";
import { Reason } from "../resource/words/reason.tsx";
import { Tabs, useTab } from "../resource/page/tabs.tsx";
import { hasListState } from "../resource/list/use-list-state.ts";
import { Actions } from "./actions.tsx";
import { type Dialog, dialogNamed, InstanceDialog } from "./dialogs.tsx";
import { DnsRecord } from "./dns-record.tsx";
import { Facts, InstanceSummary } from "./facts.tsx";
import { restartsInWords } from "./health.tsx";
import { InstanceSettings } from "./settings.tsx";
import { useAct } from "./use-act.ts";
import { lazily } from "../app/lazily.tsx";

const OperationsTable = lazily(async () => (await import("../operations/table.tsx")).OperationsTable, "events");
const BackupsOf = lazily(async () => (await import("./backups.tsx")).BackupsOf, "bulk");
const InstanceCode = lazily(async () => (await import("../code/panel.tsx")).InstanceCode, "code");
const InstanceMetrics = lazily(async () => (await import("../metrics/charts.tsx")).InstanceMetrics, "metrics");
const InstanceLog = lazily(async () => (await import("./log.tsx")).InstanceLog, "logs");

const above = () => [{ text: text.instances.title, href: "/instances" }];

export default function InstanceDetail() {
  const { id = "" } = useParams();
  return (
    <Loaded kind={text.instances.one} above={above()} question={instances.one(id)}>
      {(instance) => <InstancePage key={instance.id} instance={instance} />}
    </Loaded>
  );
}

/**
 * If its ERP was ever installed, starting it may be all that it takes; otherwise its name and domain can be used again once it is
 * deleted.
 */
function StartAgain({
  instance,
  server,
  start,
  onDelete,
}: {
  instance: ShownInstance;
  server: ServerOf | undefined;
  start: ReturnType<typeof useAct>;
  onDelete: () => void;
}) {
  const follow = useFollow();
  if (canCreateAgain(instance))
    return (
      <May needs={INSTANCE_NEEDS.delete}>
        <SpaceBetween direction="horizontal" size="xs">
          <Button href={`/instances/create?like=${instance.id}`} onFollow={follow}>
            {text.instances.actions.createAgain}
          </Button>
          <Button onClick={onDelete}>{text.instances.actions.deleteFailed}</Button>
        </SpaceBetween>
      </May>
    );
  if (whyNot("start", instance, server) !== undefined) return null;
  return (
    <May needs={INSTANCE_NEEDS.start}>
      <Button loading={start.isPending} onClick={() => start.mutate()}>
        {text.instances.actions.startAgain}
      </Button>
    </May>
  );
}

/** The dialog that a link opens: `?do=restart`. */
const DIALOG_PARAMETER = "do";

function withoutDialog(search: URLSearchParams): URLSearchParams {
  const parameters = new URLSearchParams(search);
  parameters.delete(DIALOG_PARAMETER);
  return parameters;
}

const TABS = ["overview", "backups", "code", "metrics", "history", "logs", "settings"] as const;
/** Prefix of the history's parameters in the URL. */
const HISTORY = "operations";

function InstancePage({ instance }: { instance: ShownInstance }) {
  const [search, setSearch] = useSearchParams();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const tab = useTab(TABS, hasListState(search, HISTORY) ? "history" : undefined);
  const server = instance.server ?? undefined;
  const start = useAct(instance, "start");
  const openDialog = dialog ?? dialogNamed(search.get(DIALOG_PARAMETER));
  const dismiss = () => {
    setDialog(undefined);
    if (search.has(DIALOG_PARAMETER)) setSearch(withoutDialog, { replace: true });
  };
  const missing = useMissing()(...(openDialog === undefined ? [] : INSTANCE_NEEDS[openDialog]));
  const tabs = TABS.map((id) => ({ id, label: text.instances.tabs[id] }));
  return (
    <Page
      title={instance.name}
      summary={<InstanceSummary instance={instance} server={server} />}
      above={above()}
      actions={<Actions instance={instance} server={server} start={start} onAsk={setDialog} />}
    >
      {missing !== undefined && <Missing need={missing} />}
      {start.error !== null && <Failure error={start.error} resend={() => start.mutate()} />}
      {/* The row of a backup shows its progress. */}
      <Progress id={instance.operation_id} {...(tab === "backups" && { except: "backup.create" })} />
      <Reason
        of={instance}
        more={restartsInWords(instance)}
        action={
          isFailure(instance.status) && (
            <StartAgain instance={instance} server={server} start={start} onDelete={() => setDialog("delete")} />
          )
        }
      />
      <Tabs label={text.instances.tabs.label(instance.name)} tabs={tabs} chosen={tab}>
        {tab === "overview" && <Overview instance={instance} server={server} />}
        {tab === "backups" && <BackupsOf instance={instance} server={server} />}
        {tab === "code" && <InstanceCode instance={instance} server={server} />}
        {tab === "metrics" && <InstanceMetrics instance={instance} />}
        {tab === "history" && <OperationsTable {...text.instances.history} resourceId={instance.id} prefix={HISTORY} />}
        {tab === "logs" && <InstanceLog instance={instance} />}
        {tab === "settings" && <InstanceSettings instance={instance} server={server} onAsk={setDialog} />}
      </Tabs>
      <ShownDetails />
      {openDialog !== undefined && missing === undefined && (
        <InstanceDialog
          dialog={openDialog}
          instance={instance}
          onDeleting={() => void navigate("/instances")}
          onDismiss={dismiss}
        />
      )}
    </Page>
  );
}

/** How it is, what it needs, and how it is protected. */
function Overview({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) {
  return (
    <SpaceBetween size="l">
      {instance.certificate.status !== "valid" && !isNeverInstalled(instance, server) && <DnsRecord instance={instance} />}
      <Facts instance={instance} server={server} />
      <Protection instance={instance} server={server}>
        <WhenInView>
          <BackupStrip instanceId={instance.id} nextAt={instance.protection.next_backup_at} />
        </WhenInView>
      </Protection>
    </SpaceBetween>
  );
}
