// A list on a phone: its heading and its search in two rows, and a card for each record, so that three are in view at once.
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ReactNode } from "react";
import { text } from "../../messages/text.ts";
import { Cell } from "./cell.tsx";
import type { Column } from "./column.ts";

interface Selection<Item> {
  selected: readonly Item[];
  disabled: boolean;
  onSelect: (items: readonly Item[]) => void;
  /** How many are selected, and what can be done with them: in view at the end of the screen, where it moves no card. */
  bar: ReactNode;
}

interface Props<Item> {
  title: string;
  /** The heading is the page's. */
  main: boolean;
  counter: string;
  actions: ReactNode;
  /** What failed. */
  notices: ReactNode;
  filter: ReactNode;
  loading: boolean;
  empty: ReactNode;
  items: readonly Item[];
  columns: readonly [Column<Item>, ...Column<Item>[]];
  nameOf: (item: Item) => string;
  selection?: Selection<Item> | undefined;
}

export function PhoneList<Item extends { id: string }>(props: Props<Item>) {
  const { title, main, counter, actions, notices, filter, loading, empty, items, selection } = props;
  return (
    <div className="phone">
      <div className="phone-head">
        <Box variant={main ? "h1" : "h2"} fontSize="heading-m">
          {title} {counter}
        </Box>
        {actions}
      </div>
      {notices}
      {filter}
      {loading ? (
        <StatusIndicator type="loading">{text.resource.list.loading}</StatusIndicator>
      ) : items.length === 0 ? (
        empty
      ) : (
        <ul className="cards">
          {items.map((item) => (
            <Card key={item.id} item={item} {...props} />
          ))}
        </ul>
      )}
      {selection !== undefined && selection.selected.length > 0 && <div className="phone-selection">{selection.bar}</div>}
    </div>
  );
}

/** Shows what is known of the record: only a table needs a cell for the rest. */
function Card<Item extends { id: string }>({ item, columns, nameOf, selection }: Props<Item> & { item: Item }) {
  const [name, ...otherColumns] = columns;
  const [menu, action] = ["menu", "action"].map((id) => otherColumns.find((column) => column.id === id));
  const facts = otherColumns.filter((column) => column !== menu && column !== action && column.isEmpty?.(item) !== true);
  return (
    <li className="card">
      <div className="card-head">
        {selection !== undefined && (
          <div className="card-check">
            <Tick item={item} name={nameOf(item)} {...selection} />
          </div>
        )}
        <div className="card-name">
          <Cell of={name.cell} item={item} />
        </div>
        {menu !== undefined && <Cell of={menu.cell} item={item} />}
      </div>
      <dl>
        {facts.map(({ id, header, cell }) => (
          <div key={id}>
            <dt>{header}</dt>
            <dd>
              <Cell of={cell} item={item} />
            </dd>
          </div>
        ))}
      </dl>
      {action !== undefined && <Cell of={action.cell} item={item} />}
    </li>
  );
}

interface TickProps<Item> extends Selection<Item> {
  item: Item;
  name: string;
}

const Tick = <Item extends { id: string }>({ item, name, selected, disabled, onSelect }: TickProps<Item>) => (
  <Checkbox
    ariaLabel={text.resource.list.selectOne(name)}
    checked={selected.some(({ id }) => id === item.id)}
    disabled={disabled}
    onChange={({ detail: { checked } }) => onSelect(checked ? [...selected, item] : selected.filter(({ id }) => id !== item.id))}
  />
);
