// The actions of one record, behind a button in its row.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useNoteLeftOut } from "../../app/left-out.ts";
import { type Need, useMissing } from "../../app/may.tsx";

interface MenuItem {
  id: string;
  text: string;
  /** Touch screens have no tooltips: the reason is always visible. */
  disabledReason?: string | undefined;
  needs: readonly Need[];
}

interface Props {
  /** Whose actions, for screen readers. */
  label: string;
  items: readonly MenuItem[];
  onChoose: (id: string) => void;
}

/** Offers the actions that the user may take; without any, there is no menu. */
export function RowMenu({ label, items, onChoose }: Props) {
  const missing = useMissing();
  const allowed = items.filter(({ needs }) => missing(...needs) === undefined);
  useNoteLeftOut(...items.map(({ needs }) => missing(...needs)));
  return (
    allowed.length > 0 && (
      <ButtonDropdown
        variant="inline-icon"
        ariaLabel={label}
        expandToViewport
        items={allowed.map(({ id, text, disabledReason }) => ({
          id,
          text,
          ...(disabledReason !== undefined && { disabled: true, secondaryText: disabledReason }),
        }))}
        onItemClick={({ detail }) => onChoose(detail.id)}
      />
    )
  );
}
