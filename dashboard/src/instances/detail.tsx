// One instance: its details, its DNS record, its backup policy and backups, its operations and its actions.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { Instance } from "../../../shared/api/instances.ts";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { instances, servers } from "../app/queries.ts";
import { Progress } from "../operations/progress.tsx";
import { OperationsTable } from "../operations/table.tsx";
import { Protection } from "../policies/protection.tsx";
import { Loaded } from "../resource/loaded.tsx";
import { Reason } from "../resource/reason.tsx";
import { Actions, type Dialog } from "./actions.tsx";
import { BackupsOf } from "./backups.tsx";
import { ChangeDomain } from "./change-domain.tsx";
import { DeleteInstance } from "./delete.tsx";
import { DnsRecord } from "./dns-record.tsx";
import { EditInstance } from "./edit.tsx";
import { Facts } from "./facts.tsx";
import { Interrupt } from "./interrupt.tsx";
import { useAct } from "./use-act.ts";

const ABOVE = [{ text: "Instances", href: "/instances" }];

export default function InstanceDetail() {
  const { id = "" } = useParams();
  return (
    <Loaded kind="Instance" above={ABOVE} question={instances.one(id)}>
      {(instance) => <Shown key={instance.id} instance={instance} />}
    </Loaded>
  );
}

function Shown({ instance }: { instance: Instance }) {
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const server = useQuery(servers.one(instance.server_id)).data?.data;
  const start = useAct(instance, "start");
  const dismiss = () => setDialog(undefined);
  return (
    <Page
      title={instance.name}
      above={ABOVE}
      actions={<Actions instance={instance} server={server} start={start} onAsk={setDialog} />}
    >
      {start.error !== null && <Failure error={start.error} />}
      <Progress id={instance.operation_id} />
      <Reason of={instance} />
      <Facts instance={instance} server={server} />
      <DnsRecord instance={instance} />
      <Protection instance={instance} />
      <BackupsOf instance={instance} server={server} />
      <OperationsTable resourceId={instance.id} />
      {(dialog === "stop" || dialog === "restart") && <Interrupt action={dialog} instance={instance} onDismiss={dismiss} />}
      {dialog === "edit" && <EditInstance instance={instance} onDismiss={dismiss} />}
      {dialog === "domain" && <ChangeDomain instance={instance} onDismiss={dismiss} />}
      {dialog === "delete" && (
        <DeleteInstance instance={instance} server={server} onDeleting={() => void navigate("/instances")} onDismiss={dismiss} />
      )}
    </Page>
  );
}
