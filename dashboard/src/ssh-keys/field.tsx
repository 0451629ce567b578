// Chooses an SSH key, or adds one in place.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { sshKeys } from "../app/queries.ts";
import { Chooser } from "../resource/chooser.tsx";
import { usePages } from "../resource/use-pages.ts";
import { AddSshKey } from "./add.tsx";

interface Props {
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

export function SshKeyField({ chosen, error, onChange }: Props) {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Chooser
        label="SSH key"
        description="Gives you SSH access. The service uses its own key."
        error={error}
        secondaryControl={
          <Button formAction="none" onClick={() => setAdding(true)}>
            Add SSH key
          </Button>
        }
        pages={usePages(sshKeys.list)}
        optionOf={({ name, fingerprint }) => ({ label: name, description: fingerprint })}
        placeholder="Choose a key"
        what="keys"
        empty="No keys yet"
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
