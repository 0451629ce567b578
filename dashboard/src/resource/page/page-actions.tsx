// The actions of a page, beside its heading: buttons, and a menu of the others. A phone has room for one button, so that the page
// begins where one sees it; the rest is in the menu.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { useNoteLeftOut } from "../../app/left-out.ts";
import { type Need, useMissing } from "../../app/may.tsx";
import { useNarrow } from "../../app/narrow.ts";
import { text } from "../../messages/text.ts";

interface PageAction<Id extends string> {
  id: Id;
  text: string;
  /** Without this, only the menu has the action. A phone's one button is the primary one. */
  button?: "primary" | "normal";
  /** What the user has to be allowed; without it, the action is left out. */
  needs: readonly Need[];
  /** Why it is disabled; undefined if the API would accept the action. */
  disabledReason?: string | undefined;
  pending?: boolean;
  /** Opens a page outside of the dashboard. */
  href?: string;
  ariaLabel?: string;
}

interface Props<Id extends string> {
  actions: readonly PageAction<Id>[];
  onChoose: (id: Id) => void;
  children?: ReactNode;
}

export function PageActions<Id extends string>({ actions, onChoose, children }: Props<Id>) {
  const narrow = useNarrow();
  const missing = useMissing();
  useNoteLeftOut(...actions.map(({ needs }) => missing(...needs)));
  const offered = actions.filter(({ needs }) => missing(...needs) === undefined);
  const isButton = ({ button }: PageAction<Id>): boolean => button === "primary" || (button !== undefined && !narrow);
  const inMenu = offered.filter((action) => !isButton(action));
  const isPending = inMenu.some(({ pending }) => pending);
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {offered.filter(isButton).map((action) => (
        <One key={action.id} of={action} onChoose={onChoose} />
      ))}
      {inMenu.length > 0 && (
        <ButtonDropdown
          {...(narrow ? { variant: "icon" as const, ariaLabel: text.resource.list.actions } : {})}
          expandToViewport
          loading={isPending}
          items={inMenu.map(({ id, text: label, disabledReason, href, ariaLabel, pending = false }) => ({
            id,
            text: label,
            ...(href !== undefined && { href, external: true }),
            ...(ariaLabel !== undefined && { ariaLabel }),
            ...(pending && { disabled: true }),
            // Touch screens have no tooltips.
            ...(disabledReason !== undefined && {
              disabled: true,
              ...(narrow ? { secondaryText: disabledReason } : { disabledReason }),
            }),
          }))}
          onItemClick={({ detail }) => {
            const chosen = inMenu.find(({ id }) => id === detail.id);
            if (chosen !== undefined && chosen.href === undefined) onChoose(chosen.id);
          }}
        >
          {narrow ? undefined : text.resource.list.actions}
        </ButtonDropdown>
      )}
      {children}
    </SpaceBetween>
  );
}

function One<Id extends string>({ of, onChoose }: { of: PageAction<Id>; onChoose: (id: Id) => void }) {
  const { id, text: label, button = "normal", disabledReason, pending = false, href, ariaLabel } = of;
  const shared = { variant: button, ...(ariaLabel !== undefined && { ariaLabel }) };
  if (href !== undefined)
    return (
      <Button {...shared} href={href} target="_blank" iconName="external" iconAlign="right">
        {label}
      </Button>
    );
  return (
    <Button
      {...shared}
      loading={pending}
      disabled={disabledReason !== undefined}
      {...(disabledReason !== undefined && { disabledReason })}
      onClick={() => onChoose(id)}
    >
      {label}
    </Button>
  );
}
