// Chooses the permissions of an API key: a preset, or individual ones.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import { ALL_PERMISSIONS, type Permission } from "../../../shared/api/permissions.ts";
import { text } from "../messages/text.ts";
import { Help } from "../resource/words/help.tsx";
import { presetOf, PRESETS } from "./presets.ts";

interface Props {
  chosen: readonly Permission[];
  error: string | undefined;
  onChange: (chosen: Permission[]) => void;
}

export function PermissionsField({ chosen, error, onChange }: Props) {
  const say = text.tokens.permissions;
  const beyond: Partial<Record<Permission, string>> = say.beyond;
  return (
    <SpaceBetween size="m">
      <FormField label={say.preset} stretch>
        <Tiles
          columns={4}
          value={presetOf(chosen)?.id ?? null}
          items={PRESETS.map(({ id }) => ({
            value: id,
            label: text.tokens.presets[id].name,
            description: text.tokens.presets[id].about,
          }))}
          onChange={({ detail }) => onChange([...(PRESETS.find(({ id }) => id === detail.value)?.permissions ?? [])])}
        />
      </FormField>
      <FormField
        label={say.title}
        info={<Help about={say.title}>{say.help}</Help>}
        description={say.about}
        errorText={error}
        stretch
      >
        <div role="group" aria-label={say.individual}>
          <ColumnLayout columns={2} variant="text-grid">
            {GROUPS.map((permissions) => (
              <SpaceBetween key={permissions.join()} size="xs">
                {permissions.map((permission) => (
                  <Checkbox
                    key={permission}
                    checked={chosen.includes(permission)}
                    description={
                      <>
                        <code className="code">{permission}</code>
                        {beyond[permission] !== undefined && ` · ${beyond[permission]}`}
                      </>
                    }
                    // The permissions are in the API's order, so that the same choice gives the same request.
                    onChange={({ detail }) =>
                      onChange(ALL_PERMISSIONS.filter((each) => (each === permission ? detail.checked : chosen.includes(each))))
                    }
                  >
                    {text.app.permissions.names[permission]}
                  </Checkbox>
                ))}
              </SpaceBetween>
            ))}
          </ColumnLayout>
        </div>
      </FormField>
    </SpaceBetween>
  );
}

const GROUPS = ["servers", "instances", "backups", "settings"].map((resource) =>
  ALL_PERMISSIONS.filter((permission) => permission.startsWith(`${resource}:`)),
);
