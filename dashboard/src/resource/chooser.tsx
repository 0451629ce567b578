// Chooses one record of a list, which may be longer than a page: scrolling loads more, and typing searches all of it.
import FormField from "@cloudscape-design/components/form-field";
import Select, { type SelectProps } from "@cloudscape-design/components/select";
import type { ReactNode } from "react";
import type { Pages } from "./use-pages.ts";

interface Props<Item> {
  label: ReactNode;
  description?: string | undefined;
  error: string | undefined;
  pages: Pages<Item>;
  optionOf: (item: Item) => Omit<SelectProps.Option, "value">;
  /** An ID; empty if none is chosen yet. */
  chosen: string;
  onChange: (id: string) => void;
  placeholder: string;
  /** The kind of records: "servers". */
  what: string;
  empty: string;
  secondaryControl?: ReactNode;
}

/** With so few, the user needs no search. */
const SEARCHED_FROM = 8;
/** Beyond this number, only visible options are rendered. */
const DRAWN_MAX = 100;

export function Chooser<Item extends { id: string }>(props: Props<Item>) {
  const { label, description, error, pages, optionOf, chosen, onChange, placeholder, what, empty, secondaryControl } = props;
  const { items, total = 0 } = pages;
  const options = items.map((item) => ({ value: item.id, ...optionOf(item) }));
  return (
    <FormField label={label} description={description} errorText={error} secondaryControl={secondaryControl}>
      <Select
        options={options}
        selectedOption={options.find(({ value }) => value === chosen) ?? null}
        triggerVariant="option"
        placeholder={placeholder}
        empty={empty}
        filteringType={total > SEARCHED_FROM ? "auto" : "none"}
        filteringAriaLabel={`Find ${what}`}
        filteringPlaceholder={`Search all ${total} ${what}`}
        noMatch={`No matches in all ${total} ${what}`}
        virtualScroll={total > DRAWN_MAX}
        statusType={pages.error !== null ? "error" : pages.pending ? "loading" : pages.complete ? "finished" : "pending"}
        loadingText={items.length === 0 ? `Loading ${what}` : `Loading ${what}: ${items.length} of ${total} so far`}
        errorText={`Couldn't load ${what}.`}
        recoveryText="Try again"
        onLoadItems={({ detail: { filteringText, firstPage, samePage } }) => {
          if (samePage) pages.retry();
          else if (filteringText !== "") pages.all();
          else if (!firstPage) pages.more();
        }}
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
