// The permissions of an API key, in short, with each one's meaning on click.
import Popover from "@cloudscape-design/components/popover";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Permission } from "../../../shared/api/permissions.ts";
import { text } from "../messages/text.ts";
import { presetOf } from "./presets.ts";

/** A newer service may have others. */
const nameOf = (permission: string): string | undefined => {
  const names: Readonly<Record<string, string>> = text.app.permissions.names;
  return names[permission];
};

/** Returns the permissions as the page says them, for a file: the name of a common set, or each one. */
export function permissionsInWords({ permissions }: { permissions: readonly Permission[] }): string {
  const preset = presetOf(permissions);
  return preset === undefined ? permissions.map((each) => nameOf(each) ?? each).join(", ") : text.tokens.presets[preset.id].name;
}

export function Permissions({ of }: { of: readonly Permission[] }) {
  const say = text.tokens.permissions;
  const preset = presetOf(of);
  return (
    <Popover
      header={say.title}
      size="medium"
      triggerType="text"
      wrapTriggerText={false}
      dismissAriaLabel={text.app.permissions.close}
      content={
        <SpaceBetween size="xxs">
          {of.map((permission) => (
            <div key={permission}>
              {nameOf(permission) ?? ""} <code className="code">{permission}</code>
            </div>
          ))}
        </SpaceBetween>
      }
    >
      {preset === undefined ? say.count(of.length) : text.tokens.presets[preset.id].name}
    </Popover>
  );
}
