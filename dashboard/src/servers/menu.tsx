// The actions of one server, in its row of a list.
import { useState } from "react";
import { useNavigate } from "react-router";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { SERVER_ACTIONS } from "../../../shared/domain/lifecycle.ts";
import { isUsable } from "../allowed/instances.ts";
import { SERVER_NEEDS } from "../allowed/needs.ts";
import { whyNotAct, whyNotDelete, whyNotRename } from "../allowed/servers.ts";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";

const DeleteServer = lazily(async () => (await import("./delete.tsx")).DeleteServer);
const ActOnServer = lazily(async () => (await import("./act.tsx")).ActOnServer);
const EditServer = lazily(async () => (await import("./edit.tsx")).EditServer);

export function ServerMenu({ server }: { server: ListedServer }) {
  const { detail, instances, actionsOf } = text.servers;
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<string>();
  const dismiss = () => setDialog(undefined);
  return (
    <>
      <RowMenu
        label={actionsOf(server.name)}
        items={[
          {
            id: "create",
            needs: SERVER_NEEDS.create,
            text: instances.create,
            disabledReason: isUsable(server) ? undefined : instances.notActive,
          },
          { id: "edit", needs: SERVER_NEEDS.edit, text: detail.edit, disabledReason: whyNotRename(server) },
          ...SERVER_ACTIONS.map((action) => ({
            id: action,
            needs: SERVER_NEEDS[action],
            text: detail[action],
            disabledReason: whyNotAct(server),
          })),
          { id: "like", needs: SERVER_NEEDS.like, text: detail.createLike },
          {
            id: "delete",
            needs: SERVER_NEEDS.delete,
            text: detail.delete,
            disabledReason: whyNotDelete(server, server.instance_count),
          },
        ]}
        onChoose={(id) => {
          if (id === "create") void navigate(`/instances/create?server=${server.id}`);
          else if (id === "like") void navigate(`/servers/create?like=${server.id}`);
          else setDialog(id);
        }}
      />
      {(dialog === "reboot" || dialog === "update") && <ActOnServer action={dialog} server={server} onDismiss={dismiss} />}
      {dialog === "edit" && <EditServer server={server} onDismiss={dismiss} />}
      {dialog === "delete" && <DeleteServer server={server} onDismiss={dismiss} />}
    </>
  );
}
