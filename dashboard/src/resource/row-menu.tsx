// The actions of one record, behind a button in its row.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { type Need, useMay } from "../app/may.tsx";

interface MenuItem {
  id: string;
  text: string;
  /** Touch screens have no tooltips: the reason is always visible. */
  why?: string | undefined;
  needs: readonly Need[];
}

interface Props {
  /** Whose actions, for screen readers. */
  label: string;
  items: readonly MenuItem[];
  onChoose: (id: string) => void;
}

/** With the actions that the user may take; none without any. */
export function RowMenu({ label, items, onChoose }: Props) {
  const may = useMay();
  const shown = items.filter(({ needs }) => may(...needs));
  return (
    shown.length > 0 && (
      <ButtonDropdown
        variant="inline-icon"
        ariaLabel={label}
        expandToViewport
        items={shown.map(({ id, text, why }) => ({ id, text, ...(why !== undefined && { disabled: true, secondaryText: why }) }))}
        onItemClick={({ detail }) => onChoose(detail.id)}
      />
    )
  );
}
