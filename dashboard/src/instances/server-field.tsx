// Chooses the server that an instance goes on, among those on which work can be done.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { servers } from "../app/queries.ts";
import { specsInWords } from "../servers/specs.ts";

interface Props {
  label: ReactNode;
  description?: string;
  placeholder: string;
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

export const activeServers = () => servers.list({ status: "active", per_page: 100 });

export function ServerField({ label, description, placeholder, chosen, error, onChange }: Props) {
  const { data, isPending, isError, refetch } = useQuery(activeServers());
  const options = (data?.data ?? []).map(({ id, name, region, specs }) => ({
    value: id,
    label: name,
    description: `${region}, ${specsInWords(specs)}`,
  }));
  return (
    <FormField label={label} description={description} errorText={error}>
      <Select
        options={options}
        selectedOption={options.find(({ value }) => value === chosen) ?? null}
        placeholder={placeholder}
        empty="No server is active"
        statusType={isPending ? "loading" : isError ? "error" : "finished"}
        loadingText="Loading servers"
        errorText="The servers could not be loaded."
        recoveryText="Try again"
        onLoadItems={() => isError && void refetch()}
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
