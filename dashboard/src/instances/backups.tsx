// The backups of an instance with their actions, and "Back up now".
import { useState } from "react";
import type { Instance } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { BackUp } from "../backups/back-up.tsx";
import { BackupsTable } from "../backups/table.tsx";
import { Action } from "../resource/action.tsx";
import { whyNot } from "../allowed/instances.ts";

export function BackupsOf({ instance, server }: { instance: Instance; server: ListedServer | undefined }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <BackupsTable
        instanceId={instance.id}
        homeOf={() => ({ instance, server, deleted: false })}
        empty="No backups of this instance yet."
        actions={
          <Action disabledReason={whyNot("backup", instance, server)} onClick={() => setAsking(true)}>
            Back up now
          </Action>
        }
      />
      {asking && <BackUp instance={instance} onDismiss={() => setAsking(false)} />}
    </>
  );
}
