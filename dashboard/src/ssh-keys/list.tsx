// All SSH keys; adding and deleting them.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { useNoteLeftOut } from "../app/left-out.ts";
import { type Need, useMissing } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Copyable } from "../resource/words/copyable.tsx";
import { ListPage, menuColumn } from "../resource/list/list-page.tsx";
import type { Column } from "../resource/list/column.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { lazily } from "../app/lazily.tsx";
import { listSshKeys, narrowSshKeys, typeOf } from "./filters.tsx";

const AddSshKey = lazily(async () => (await import("./add.tsx")).AddSshKey);
const DeleteSshKey = lazily(async () => (await import("./delete.tsx")).DeleteSshKey);

const NEEDS: readonly Need[] = ["servers:write"];

function columns(): [Column<SshKey>, ...Column<SshKey>[]] {
  const say = text.sshKeys.columns;
  return [
    { id: "name", header: say.name, cell: ({ name }) => <Wrapped>{name}</Wrapped>, text: ({ name }) => name },
    {
      id: "fingerprint",
      header: say.fingerprint,
      text: ({ fingerprint }) => fingerprint,
      cell: ({ name, fingerprint }) => <Copyable value={fingerprint} valueName={text.sshKeys.fingerprintOf(name)} code />,
    },
    { id: "type", header: say.type, cell: typeOf, text: typeOf },
    { id: "added", header: say.added, cell: ({ created_at }) => <Time at={created_at} />, text: ({ created_at }) => created_at },
  ];
}

export default function SshKeys() {
  const say = text.sshKeys;
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<SshKey>();
  const missing = useMissing()(...NEEDS);
  useNoteLeftOut(missing);
  const mayWrite = missing === undefined;
  const add = mayWrite && (
    <Button variant="primary" onClick={() => setAdding(true)}>
      {say.add}
    </Button>
  );
  return (
    <ListPage
      title={say.title}
      description={say.about}
      list={listSshKeys}
      searchable
      narrowing={narrowSshKeys()}
      columns={[
        ...columns(),
        menuColumn<SshKey>((key) => (
          <RowMenu
            label={say.actionsOf(key.name)}
            items={[{ id: "delete", text: say.deletion.delete, needs: NEEDS }]}
            onChoose={() => setDeleting(key)}
          />
        )),
      ]}
      add={add}
      empty={say.empty}
    >
      {adding && (
        <AddSshKey
          onDismiss={() => setAdding(false)}
          onAdded={({ id, name }) => {
            setAdding(false);
            notify({ id, type: "success", header: say.added(name) });
          }}
        />
      )}
      {deleting !== undefined && <DeleteSshKey sshKey={deleting} onDismiss={() => setDeleting(undefined)} />}
    </ListPage>
  );
}
