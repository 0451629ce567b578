// Chooses one record of a list, which may be longer than a page: scrolling loads more, and typing searches all of it in the API.
import FormField from "@cloudscape-design/components/form-field";
import Select, { type SelectProps as OfSelect } from "@cloudscape-design/components/select";
import { type ReactNode, useEffect, useState } from "react";
import { text } from "../../messages/text.ts";
import { formatCount } from "../words/number.ts";
import type { Pages } from "../page/use-pages.ts";

type Option = OfSelect.Option;

interface Props<Item> extends SelectProps<Item> {
  label: ReactNode;
  description?: string | undefined;
  error: string | undefined;
  secondaryControl?: ReactNode;
}

interface SelectProps<Item> {
  /** The label for screen readers, where no field has it. */
  ariaLabel?: string;
  /** The choice of none. */
  any?: string;
  pages: Pages<Item>;
  /** The one that is chosen at first, which may not be among the loaded ones. */
  initially?: Item | undefined;
  optionOf: (item: Item) => Omit<Option, "value">;
  /** An ID; empty if none is chosen yet. */
  chosen: string;
  onChange: (id: string) => void;
  placeholder: string;
  /** The kind of records: "servers". */
  plural: string;
  empty: string;
  /** If there is one choice, it is made. */
  only?: boolean;
}

/** With so few, the user needs no search. */
const SEARCHED_FROM = 8;
/** Beyond this number, only visible options are rendered. */
const DRAWN_MAX = 100;

export const Chooser = <Item extends { id: string }>({ label, description, error, secondaryControl, ...select }: Props<Item>) => (
  <FormField label={label} description={description} errorText={error} secondaryControl={secondaryControl}>
    <ChooserSelect {...select} />
  </FormField>
);

/** The same without a field around it. */
export function ChooserSelect<Item extends { id: string }>(props: SelectProps<Item>) {
  const { ariaLabel, any, pages, initially, chosen, onChange, placeholder, plural, empty } = props;
  const { items, total = 0, matching = 0 } = pages;
  const say = text.resource.chooser;
  const toOption = (item: Item): Option => ({ value: item.id, ...props.optionOf(item) });
  const itemOptions = items.map(toOption);
  const options = any === undefined || itemOptions.length === 0 ? itemOptions : [{ value: "", label: any }, ...itemOptions];
  const selected = options.find(({ value }) => value === chosen);
  // A search may leave the chosen one out.
  const [last, setLast] = useState<Option>();
  const before = [last, initially && toOption(initially)].find((option) => option?.value === chosen);
  const [first] = itemOptions;
  const sole = props.only === true && total === 1 && first?.disabled !== true ? first?.value : undefined;
  useEffect(() => {
    if (sole !== undefined && chosen === "") onChange(sole);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once it is known that there is no other choice
  }, [sole]);
  return (
    <Select
      {...(ariaLabel !== undefined && { ariaLabel })}
      options={options}
      selectedOption={selected ?? before ?? null}
      triggerVariant="option"
      placeholder={placeholder}
      empty={total > 0 ? say.noMatches(formatCount(total), plural) : empty}
      filteringType={total <= SEARCHED_FROM ? "none" : pages.find === undefined ? "auto" : "manual"}
      filteringAriaLabel={say.find(plural)}
      filteringPlaceholder={say.search(formatCount(total), plural)}
      noMatch={say.noMatches(formatCount(total), plural)}
      virtualScroll={items.length > DRAWN_MAX}
      statusType={pages.error !== null ? "error" : pages.pending ? "loading" : pages.complete ? "finished" : "pending"}
      loadingText={
        items.length === 0 ? say.loading(plural) : say.loadingMore(plural, formatCount(items.length), formatCount(matching))
      }
      errorText={say.failed(plural)}
      recoveryText={text.app.failure.tryAgain}
      onLoadItems={({ detail: { filteringText, firstPage, samePage } }) => {
        if (samePage) pages.retry();
        else if (firstPage) pages.find?.(filteringText);
        else pages.more();
      }}
      onChange={({ detail }) => {
        setLast(detail.selectedOption);
        onChange(detail.selectedOption.value ?? "");
      }}
    />
  );
}
