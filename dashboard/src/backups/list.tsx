// All backups.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Backup } from "../../../shared/api/backups.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Page } from "../app/page.tsx";
import { instances, servers } from "../app/queries.ts";
import { whyNot } from "../allowed/instances.ts";
import { Action } from "../resource/action.tsx";
import type { Home } from "../allowed/backups.ts";
import { BackUpAny } from "./back-up.tsx";
import { BackupsTable } from "./table.tsx";

/** More than an account has, unless its operator raised the quotas; then the API decides. */
const ALL = PER_PAGE_MAX;

export default function Backups() {
  const [choosing, setChoosing] = useState(false);
  const all = useQuery(instances.list({ page: 1, per_page: ALL }));
  const machines = useQuery(servers.list({ per_page: ALL }));
  const serverOf = (id: string | undefined) => machines.data?.data.find((server) => server.id === id);
  const homeOf = ({ instance_id }: Backup): Home => {
    const instance = all.data?.data.find(({ id }) => id === instance_id);
    const deleted = instance === undefined && all.data !== undefined && all.data.meta.total <= ALL;
    return { instance, server: serverOf(instance?.server_id), deleted };
  };
  const backUp = (
    <Action variant="primary" disabledReason={whyNotAny(all)} onClick={() => setChoosing(true)}>
      Back up now
    </Action>
  );
  return (
    <Page title="Backups" headless>
      <BackupsTable homeOf={homeOf} actions={backUp} empty="No backups yet. Back up an instance before you change it." />
      {choosing && (
        <BackUpAny
          disabledReasonOf={(instance) => whyNot("backup", instance, serverOf(instance.server_id))}
          onDismiss={() => setChoosing(false)}
        />
      )}
    </Page>
  );
}

function whyNotAny({ data, isError }: { data: { data: readonly Instance[] } | undefined; isError: boolean }): string | undefined {
  if (isError) return "Couldn't load instances. Refresh the page.";
  if (data === undefined) return "Loading instances…";
  return data.data.length === 0 ? "Create an instance first." : undefined;
}
