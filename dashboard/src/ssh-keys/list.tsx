// All SSH keys; adding and deleting them.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { notify } from "../app/notifications.ts";
import { sshKeys } from "../app/queries.ts";
import { Copyable } from "../resource/copyable.tsx";
import { actionColumn, ListPage } from "../resource/list-page.tsx";
import type { Column } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { AddSshKey } from "./add.tsx";
import { DeleteSshKey } from "./delete.tsx";

const COLUMNS: [Column<SshKey>, ...Column<SshKey>[]] = [
  { id: "name", header: "Name", cell: ({ name }) => <Wrapped>{name}</Wrapped> },
  {
    id: "fingerprint",
    header: "Fingerprint",
    long: true,
    cell: ({ name, fingerprint }) => <Copyable value={fingerprint} what={`fingerprint of ${name}`} code />,
  },
  { id: "type", header: "Type", cell: ({ public_key }) => public_key.split(" ")[0] },
  { id: "added", header: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function SshKeys() {
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<SshKey>();
  const add = (
    <Button variant="primary" onClick={() => setAdding(true)}>
      Add SSH key
    </Button>
  );
  return (
    <ListPage
      title="SSH keys"
      description="Public keys installed on new servers, so you can log in over SSH."
      list={sshKeys.list}
      columns={[...COLUMNS, actionColumn<SshKey>("Delete", setDeleting)]}
      add={add}
      empty="No SSH keys yet. You need one to create a server."
    >
      {adding && (
        <AddSshKey
          onDismiss={() => setAdding(false)}
          onAdded={({ id, name }) => {
            setAdding(false);
            notify({ id, type: "success", header: `SSH key added: ${name}` });
          }}
        />
      )}
      {deleting !== undefined && <DeleteSshKey sshKey={deleting} onDismiss={() => setDeleting(undefined)} />}
    </ListPage>
  );
}
