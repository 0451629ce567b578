// Chooses an SSH key, or adds one on the spot.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sshKeys } from "../app/queries.ts";
import { AddSshKey } from "./add.tsx";

interface Props {
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

/** The API keeps at most 100 in an account: one page. */
const ALL = 100;

export function SshKeyField({ chosen, error, onChange }: Props) {
  const [adding, setAdding] = useState(false);
  const { data, isPending, isError, refetch } = useQuery(sshKeys.list({ per_page: ALL }));
  const options = (data?.data ?? []).map(({ id, name, fingerprint }) => ({ value: id, label: name, description: fingerprint }));
  return (
    <>
      <FormField
        label="SSH key"
        description="Opens the machine to you; the service has a key of its own."
        errorText={error}
        secondaryControl={
          <Button formAction="none" onClick={() => setAdding(true)}>
            Add a key
          </Button>
        }
      >
        <Select
          options={options}
          selectedOption={options.find(({ value }) => value === chosen) ?? null}
          placeholder="Choose a key"
          empty="There is no key yet: add one"
          statusType={isPending ? "loading" : isError ? "error" : "finished"}
          loadingText="Loading keys"
          errorText="The keys could not be loaded."
          recoveryText="Try again"
          onLoadItems={() => isError && void refetch()}
          onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
        />
      </FormField>
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
