// All SSH keys; adding and deleting them.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { notify } from "../app/notifications.ts";
import { Page } from "../app/page.tsx";
import { sshKeys } from "../app/queries.ts";
import { Copyable } from "../resource/copyable.tsx";
import { type Column, ResourceTable } from "../resource/table.tsx";
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
    <Page title="SSH keys" headless>
      <ResourceTable
        main
        title="SSH keys"
        description="Public keys installed on new servers, so you can log in over SSH."
        list={sshKeys.list}
        columns={[
          ...COLUMNS,
          {
            id: "delete",
            header: "Actions",
            width: 110,
            cell: (key) => (
              <Button variant="inline-link" ariaLabel={`Delete ${key.name}`} onClick={() => setDeleting(key)}>
                Delete
              </Button>
            ),
          },
        ]}
        actions={add}
        empty={
          <SpaceBetween size="s">
            <span>No SSH keys yet. You need one to create a server.</span>
            {add}
          </SpaceBetween>
        }
      />
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
    </Page>
  );
}
