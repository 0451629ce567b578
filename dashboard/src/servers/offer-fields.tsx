// Provider, region and size, in the combinations that the catalog offers; where there is one choice, it is made.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import type { CatalogProvider } from "../../../shared/api/catalog.ts";
import { text } from "../messages/text.ts";
import { priceInWords } from "./price.ts";
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
  const say = text.servers;
  const provider = providers.find(({ code }) => code === chosen.provider);
  const sizes = provider?.sizes.filter(({ regions }) => regions.includes(chosen.region)) ?? [];
  return (
    <SpaceBetween size="l">
      <Choice
        label={say.fields.provider}
        placeholder={say.offers.chooseProvider}
        options={providers}
        chosen={chosen.provider}
        error={error("provider")}
        onChange={(code) => onChange({ provider: code, region: "", size: "" })}
      />
      <Choice
        label={say.fields.region}
        placeholder={say.offers.chooseRegion}
        options={provider?.regions ?? []}
        chosen={chosen.region}
        error={error("region")}
        onChange={(region) => onChange({ region, size: sizeOffered(provider, region, chosen.size) })}
      />
      <FormField
        label={say.fields.size}
        {...(sizes.some(({ price }) => price !== null) && { description: say.offers.prices })}
        errorText={error("size")}
        {...(sizes.length === 0 && { constraintText: say.offers.regionFirst })}
      >
        <Tiles
          ariaLabel={say.fields.size}
          value={chosen.size === "" ? null : chosen.size}
          onChange={({ detail }) => onChange({ size: detail.value })}
          items={sizes.map((size) => ({
            value: size.code,
            label: size.code,
            description: <SizeInWords of={size} region={chosen.region} />,
          }))}
        />
      </FormField>
    </SpaceBetween>
  );
}

function SizeInWords({ of, region }: { of: CatalogProvider["sizes"][number]; region: string }) {
  const price = priceInWords(of, region);
  return (
    <>
      <div>{specsInWords(of)}</div>
      {price !== undefined && <div>{price}</div>}
    </>
  );
}

interface Defaults {
  default_provider: string | null;
  default_region: string | null;
}

/** What the user is about to order, above the button that does it. */
export function OrderInWords({ providers, chosen }: Pick<Props, "providers" | "chosen">) {
  const provider = providers.find(({ code }) => code === chosen.provider);
  const size = provider?.sizes.find(({ code }) => code === chosen.size);
  const region = provider?.regions.find(({ code }) => code === chosen.region);
  if (provider === undefined || size === undefined || region === undefined) return null;
  const price = priceInWords(size, region.code);
  return (
    <div role="status">
      {text.servers.offers.follows(provider.name, region.name)}
      {price !== undefined && ` ${text.servers.offers.costs(price)}`}
    </div>
  );
}

/** The account's defaults, if they are available together. */
export function preselected(providers: readonly CatalogProvider[], { default_provider, default_region }: Defaults): Offer {
  const provider = providers.find(({ code }) => code === default_provider) ?? providers[0];
  const region = provider?.regions.find(({ code }) => code === default_region) ?? only(provider?.regions);
  return { provider: provider?.code ?? "", region: region?.code ?? "", size: sizeOffered(provider, region?.code ?? "", "") };
}

const only = <Item,>(items: readonly Item[] = []): Item | undefined => (items.length === 1 ? items[0] : undefined);

/** The chosen size if the region has it, or the only one there. */
function sizeOffered(provider: CatalogProvider | undefined, region: string, size: string): string {
  const sizes = provider?.sizes.filter(({ regions }) => regions.includes(region)) ?? [];
  return (sizes.find(({ code }) => code === size) ?? only(sizes))?.code ?? "";
}

interface ChoiceProps {
  label: string;
  placeholder: string;
  options: readonly { code: string; name: string }[];
  chosen: string;
  error: string | undefined;
  onChange: (code: string) => void;
}

function Choice({ label, placeholder, options, chosen, error, onChange }: ChoiceProps) {
  const items = options.map(({ code, name }) => ({ value: code, label: name, labelTag: code }));
  return (
    <FormField label={label} errorText={error}>
      <Select
        options={items}
        selectedOption={items.find(({ value }) => value === chosen) ?? null}
        placeholder={placeholder}
        empty={text.servers.offers.none}
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
