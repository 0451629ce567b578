// Fields for version and edition, from the catalog.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import type { Catalog } from "../../../shared/api/catalog.ts";

type Edition = Catalog["editions"][number];

interface Erp {
  erp_version: string;
  edition: Edition;
}

interface Props {
  offered: Pick<Catalog, "erp_versions" | "editions">;
  chosen: Erp;
  error: (field: string) => string | undefined;
  onChange: (changed: Partial<Erp>) => void;
}

const EDITIONS: Record<Edition, { label: string; description: string }> = {
  community: { label: "Community", description: "Free and open source." },
  enterprise: { label: "Enterprise", description: "Requires an Odoo Enterprise subscription." },
};

export function ErpFields({ offered, chosen, error, onChange }: Props) {
  const versions = offered.erp_versions.map(({ version, deprecated }) => ({
    value: version,
    label: version,
    ...(deprecated && {
      labelTag: "deprecated",
      description: "Support ends soon. Choose a newer version if you can.",
    }),
  }));
  return (
    <SpaceBetween size="l">
      <FormField label="Version" errorText={error("erp_version")}>
        <Select
          options={versions}
          selectedOption={versions.find(({ value }) => value === chosen.erp_version) ?? null}
          placeholder="Choose a version"
          onChange={({ detail }) => onChange({ erp_version: detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <FormField label="Edition" errorText={error("edition")}>
        <Tiles
          ariaLabel="Edition"
          value={chosen.edition}
          items={offered.editions.map((value) => ({ value, ...EDITIONS[value] }))}
          onChange={({ detail }) => {
            const edition = offered.editions.find((each) => each === detail.value);
            if (edition !== undefined) onChange({ edition });
          }}
        />
      </FormField>
    </SpaceBetween>
  );
}
