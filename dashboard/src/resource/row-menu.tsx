// The actions of one record, behind a button in its row.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";

interface MenuItem {
  id: string;
  text: string;
  /** Touch screens have no tooltips: the reason is always visible. */
  why?: string | undefined;
}

interface Props {
  /** Whose actions, for screen readers. */
  label: string;
  items: readonly MenuItem[];
  onChoose: (id: string) => void;
}

export const RowMenu = ({ label, items, onChoose }: Props) => (
  <ButtonDropdown
    variant="inline-icon"
    ariaLabel={label}
    expandToViewport
    items={items.map(({ id, text, why }) => ({ id, text, ...(why !== undefined && { disabled: true, secondaryText: why }) }))}
    onItemClick={({ detail }) => onChoose(detail.id)}
  />
);
