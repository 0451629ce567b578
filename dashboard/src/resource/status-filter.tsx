// Filters a list by status.
import Select from "@cloudscape-design/components/select";
import { STATUSES } from "./status.tsx";

const ANY = { value: "", label: "Any status" };

interface Props {
  of: keyof typeof STATUSES;
  status: string | undefined;
  onChange: (status: string | undefined) => void;
}

export function StatusFilter({ of, status, onChange }: Props) {
  const options = [ANY, ...Object.entries(STATUSES[of]).map(([value, { word }]) => ({ value, label: word }))];
  return (
    <div className="filter">
      <Select
        ariaLabel="Filter by status"
        options={options}
        selectedOption={options.find(({ value }) => value === (status ?? "")) ?? ANY}
        onChange={({ detail }) => onChange(detail.selectedOption.value === "" ? undefined : detail.selectedOption.value)}
      />
    </div>
  );
}
