// Provider, region and size, in the combinations that the catalog offers.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import type { CatalogProvider } from "../../../shared/api/catalog.ts";
import { specsInWords } from "./specs.ts";

interface Offer {
  provider: string;
  region: string;
  size: string;
}

interface Props {
  providers: readonly CatalogProvider[];
  chosen: Offer;
  error: (field: string) => string | undefined;
  onChange: (changed: Partial<Offer>) => void;
}

export function OfferFields({ providers, chosen, error, onChange }: Props) {
  const provider = providers.find(({ code }) => code === chosen.provider);
  const sizes = provider?.sizes.filter(({ regions }) => regions.includes(chosen.region)) ?? [];
  return (
    <SpaceBetween size="l">
      <Choice
        label="Provider"
        options={providers}
        chosen={chosen.provider}
        error={error("provider")}
        onChange={(code) => onChange({ provider: code, region: "", size: "" })}
      />
      <Choice
        label="Region"
        options={provider?.regions ?? []}
        chosen={chosen.region}
        error={error("region")}
        onChange={(region) => onChange({ region, size: sizeStillOffered(provider, region, chosen.size) })}
      />
      <FormField
        label="Size"
        errorText={error("size")}
        {...(sizes.length === 0 && { constraintText: "Choose a region to see the sizes available." })}
      >
        <Tiles
          ariaLabel="Size"
          value={chosen.size === "" ? null : chosen.size}
          onChange={({ detail }) => onChange({ size: detail.value })}
          items={sizes.map(({ code, ...specs }) => ({ value: code, label: code, description: specsInWords(specs) }))}
        />
      </FormField>
    </SpaceBetween>
  );
}

interface Defaults {
  default_provider: string | null;
  default_region: string | null;
}

/** The account's defaults, if they are available together. */
export function preselected(providers: readonly CatalogProvider[], { default_provider, default_region }: Defaults): Offer {
  const provider = providers.find(({ code }) => code === default_provider) ?? providers[0];
  const region = provider?.regions.find(({ code }) => code === default_region);
  return { provider: provider?.code ?? "", region: region?.code ?? "", size: "" };
}

const sizeStillOffered = (provider: CatalogProvider | undefined, region: string, size: string): string =>
  provider?.sizes.some(({ code, regions }) => code === size && regions.includes(region)) === true ? size : "";

interface ChoiceProps {
  label: string;
  options: readonly { code: string; name: string }[];
  chosen: string;
  error: string | undefined;
  onChange: (code: string) => void;
}

function Choice({ label, options, chosen, error, onChange }: ChoiceProps) {
  const items = options.map(({ code, name }) => ({ value: code, label: name, labelTag: code }));
  return (
    <FormField label={label} errorText={error}>
      <Select
        options={items}
        selectedOption={items.find(({ value }) => value === chosen) ?? null}
        placeholder={`Choose a ${label.toLowerCase()}`}
        empty="None available"
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
