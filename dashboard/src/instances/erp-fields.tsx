// Fields for version and edition, from the catalog.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import type { Catalog } from "../../../shared/api/catalog.ts";
import { text } from "../messages/text.ts";
import type { Edition } from "../../../shared/domain/erp-versions.ts";

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

export function ErpFields({ offered, chosen, error, onChange }: Props) {
  const { fields, create: say } = text.instances;
  const versions = offered.erp_versions.map(({ version, deprecated }) => ({
    value: version,
    label: version,
    ...(deprecated && {
      labelTag: say.deprecated,
      description: say.deprecatedAbout,
    }),
  }));
  return (
    <SpaceBetween size="l">
      <FormField label={fields.version} errorText={error("erp_version")}>
        <Select
          options={versions}
          selectedOption={versions.find(({ value }) => value === chosen.erp_version) ?? null}
          placeholder={say.chooseVersion}
          onChange={({ detail }) => onChange({ erp_version: detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <FormField label={fields.edition} errorText={error("edition")}>
        <Tiles
          ariaLabel={fields.edition}
          value={chosen.edition}
          items={offered.editions.map((value) => ({ value, ...say.editions[value] }))}
          onChange={({ detail }) => {
            const edition = offered.editions.find((each) => each === detail.value);
            if (edition !== undefined) onChange({ edition });
          }}
        />
      </FormField>
    </SpaceBetween>
  );
}
