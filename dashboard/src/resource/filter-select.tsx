// A filter of a list by one of a few values.
import Select from "@cloudscape-design/components/select";

interface Props {
  label: string;
  /** What it says while nothing is chosen. */
  any: string;
  options: readonly { value: string; label: string }[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

export function FilterSelect({ label, any, options, value, onChange }: Props) {
  const all = [{ value: "", label: any }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={label}
        options={all}
        // A link may name one that is not offered any more.
        selectedOption={all.find((option) => option.value === (value ?? "")) ?? { value: value ?? "", label: value ?? "" }}
        onChange={({ detail }) => onChange(detail.selectedOption.value || undefined)}
      />
    </div>
  );
}
