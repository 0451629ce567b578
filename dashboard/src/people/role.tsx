// The role of a user, with what it permits on click.
import Popover from "@cloudscape-design/components/popover";
import type { AccountUser } from "../../../shared/api/users.ts";
import { text } from "../messages/text.ts";

type Roles = Readonly<Record<string, { name: string; about: string } | undefined>>;

/** A newer service may have others. */
function wordsOf(role: string): { name: string; about: string } {
  const roles: Roles = text.people.roles;
  return roles[role] ?? { name: role, about: "" };
}

export const roleInWords = ({ role }: Pick<AccountUser, "role">): string => wordsOf(role).name;

export function Role({ of: { role, permissions } }: { of: Pick<AccountUser, "role" | "permissions"> }) {
  const { name, about } = wordsOf(role);
  return (
    <Popover
      header={name}
      triggerType="text"
      wrapTriggerText={false}
      dismissAriaLabel={text.app.permissions.close}
      content={role === "custom" ? <PermissionNames of={permissions} /> : about}
    >
      {name}
    </Popover>
  );
}

function PermissionNames({ of }: { of: AccountUser["permissions"] }) {
  return of.map((permission) => <div key={permission}>{text.app.permissions.names[permission]}</div>);
}
