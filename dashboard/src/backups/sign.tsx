// The sign of what became of a day's backups, or of one that is due. Fonts lack check marks and crosses: those are icons.
import Icon, { type IconProps } from "@cloudscape-design/components/icon";
import type { Night } from "./night.ts";

type Kind = Night<unknown>["kind"] | "due";

const ICONS: Partial<Record<Kind, IconProps.Name>> = { completed: "check", failed: "close", due: "status-pending" };
const CHARACTERS: Partial<Record<Kind, string>> = { drillFailed: "!", running: "…", none: "–", unknown: "?" };

export function Sign({ of }: { of: Kind }) {
  const icon = ICONS[of];
  return <span aria-hidden="true">{icon === undefined ? CHARACTERS[of] : <Icon name={icon} size="small" />}</span>;
}
