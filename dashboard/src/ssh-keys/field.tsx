// Chooses an SSH key, or adds one in place.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { sshKeys } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Chooser } from "../resource/form/chooser.tsx";
import { usePages } from "../resource/page/use-pages.ts";
import { lazily } from "../app/lazily.tsx";

const AddSshKey = lazily(async () => (await import("./add.tsx")).AddSshKey);

interface Props {
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

export function SshKeyField({ chosen, error, onChange }: Props) {
  const say = text.sshKeys.field;
  const [adding, setAdding] = useState(false);
  const pages = usePages(sshKeys.list, {}, { searchable: false });
  return (
    <>
      <Chooser
        only
        label={say.label}
        description={say.about}
        error={error}
        secondaryControl={
          <Button formAction="none" onClick={() => setAdding(true)}>
            {text.sshKeys.add}
          </Button>
        }
        pages={pages}
        optionOf={({ name, fingerprint }) => ({ label: name, description: fingerprint })}
        placeholder={say.placeholder}
        plural={say.plural}
        empty={say.empty}
        chosen={chosen}
        onChange={onChange}
      />
      {adding && (
        <AddSshKey
          onDismiss={() => setAdding(false)}
          onAdded={({ id }) => {
            setAdding(false);
            onChange(id);
          }}
        />
      )}
    </>
  );
}
