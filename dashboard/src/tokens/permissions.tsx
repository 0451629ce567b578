// The permissions of an API key, in short, with each one's meaning on click.
import Popover from "@cloudscape-design/components/popover";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { PERMISSIONS, type Permission } from "../../../shared/api/permissions.ts";
import { presetOf } from "./presets.ts";

export function Permissions({ of }: { of: readonly Permission[] }) {
  const short = presetOf(of)?.name ?? `${of.length} permission${of.length === 1 ? "" : "s"}`;
  return (
    <Popover
      header="Permissions"
      size="medium"
      triggerType="text"
      wrapTriggerText={false}
      dismissAriaLabel="Close"
      content={
        <SpaceBetween size="xxs">
          {of.map((permission) => (
            <div key={permission}>
              {PERMISSIONS[permission]} <code className="code">{permission}</code>
            </div>
          ))}
        </SpaceBetween>
      }
    >
      {short}
    </Popover>
  );
}
