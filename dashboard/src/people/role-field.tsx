// Chooses a role, by what it can do; a custom one has permissions of its own.
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import type { Permission } from "../../../shared/api/permissions.ts";
import { type Role, ROLES } from "../../../shared/api/roles.ts";
import { text } from "../messages/text.ts";
import { PermissionsField } from "../tokens/permissions-field.tsx";

interface Props {
  chosen: { role: Role; permissions: Permission[] };
  error: (field: "role" | "permissions") => string | undefined;
  mayMakeOwner: boolean;
  onChange: (changed: { role?: Role; permissions?: Permission[] }) => void;
}

export function RoleField({ chosen: { role, permissions }, error, mayMakeOwner, onChange }: Props) {
  const say = text.people;
  return (
    <>
      <FormField label={say.role.label} errorText={error("role")} stretch>
        <RadioGroup
          value={role}
          items={ROLES.map((value) => {
            const isForbidden = value === "owner" && !mayMakeOwner;
            const { name, about } = say.roles[value];
            return { value, label: name, description: isForbidden ? say.role.onlyOwners : about, disabled: isForbidden };
          })}
          onChange={({ detail }) => {
            const next = ROLES.find((each) => each === detail.value);
            if (next !== undefined) onChange({ role: next });
          }}
        />
      </FormField>
      {role === "custom" && (
        <PermissionsField
          chosen={permissions}
          error={error("permissions")}
          onChange={(changed) => onChange({ permissions: changed })}
        />
      )}
    </>
  );
}
