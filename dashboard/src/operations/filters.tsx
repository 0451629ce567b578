// Filters by who did something, what it was, and what it is about.
import Button from "@cloudscape-design/components/button";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, useRef, useState } from "react";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { events, search, tokens, users } from "../app/queries.ts";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import type { Narrowing } from "../resource/list/list-query.ts";
import { withoutUrls } from "../resource/list/pasted.ts";
import { useSettled } from "../resource/page/use-pages.ts";
import { actorInWords } from "./words.ts";

interface Option {
  value: string;
  label: string;
}

const byLabel = (a: Option, b: Option): number => a.label.localeCompare(b.label, locale);
const anybody = (): Option => ({ value: "", label: text.events.filters.anybody });
type FieldProps = ComponentProps<Narrowing["Fields"]>;

export function PersonFilter({ listState, go }: FieldProps) {
  const say = text.events.filters;
  const { actor = "" } = listState;
  const [choosing, setChoosing] = useState(false);
  const people = usePeople(actor, choosing);
  return (
    <div className="filter">
      <Select
        ariaLabel={say.person}
        filteringType={people.length > 8 ? "auto" : "none"}
        filteringAriaLabel={say.findPerson}
        options={people}
        onFocus={() => setChoosing(true)}
        selectedOption={people.find(({ value }) => value === actor) ?? anybody()}
        onChange={({ detail }) => go({ ...listState, page: 1, actor: detail.selectedOption.value })}
      />
    </div>
  );
}

interface TypeFilterProps extends FieldProps {
  types: readonly string[];
  inWords: (type: string) => string;
}

/** Filters by the type of an event or an operation. */
export function TypeFilter({ types, inWords, listState, go }: TypeFilterProps) {
  const say = text.events.filters;
  const { type = "" } = listState;
  const options = types.map((value) => ({ value, label: inWords(value) })).toSorted(byLabel);
  const kinds = [{ value: "", label: say.anyAction }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={say.action}
        filteringType="auto"
        filteringAriaLabel={say.findAction}
        options={kinds}
        selectedOption={kinds.find(({ value }) => value === type) ?? { value: type, label: inWords(type) }}
        onChange={({ detail }) => go({ ...listState, page: 1, type: detail.selectedOption.value })}
      />
    </div>
  );
}

/** Removes what a row's button or the chooser added. Each takes the other's place, and so its focus. */
export function ResourceFilter({ listState, go }: FieldProps) {
  const self = useRef<HTMLDivElement>(null);
  const choose = (resource: string | undefined): void => {
    go({ ...listState, page: 1, resource });
    setTimeout(() => self.current?.querySelector("button")?.focus());
  };
  return (
    <div ref={self}>
      {listState.resource ? (
        <Button iconName="close" iconAlign="right" onClick={() => choose(undefined)}>
          {text.events.filters.oneResource}
        </Button>
      ) : (
        <ResourceChooser onChoose={choose} />
      )}
    </div>
  );
}

const PAUSE_MS = 200;

/** Offers the resources that the search in the top bar finds. */
function ResourceChooser({ onChoose }: { onChoose: (id: string | undefined) => void }) {
  const say = text.events.filters;
  const [typed, setTyped] = useState("");
  const query = withoutUrls(typed).trim().slice(0, 100);
  const words = useSettled(query, PAUSE_MS);
  const { data, isLoading, isError, refetch } = useQuery({ ...search.find(words), enabled: /[\p{L}\p{N}]/u.test(words) });
  return (
    <div className="filter">
      <Select
        ariaLabel={say.resource}
        selectedOption={{ value: "", label: say.anyResource }}
        options={(data?.data ?? []).map(({ id, name, detail }) => ({ value: id, label: name || id, description: detail ?? id }))}
        filteringType="manual"
        filteringAriaLabel={say.findResource}
        filteringPlaceholder={say.findResource}
        statusType={isError ? "error" : isLoading || query !== words ? "loading" : "finished"}
        empty={data === undefined ? say.typeResource : text.shell.search.none}
        loadingText={text.shell.search.searching}
        errorText={text.shell.search.failed}
        recoveryText={text.app.failure.tryAgain}
        onLoadItems={({ detail }) => (detail.samePage ? void refetch() : setTyped(detail.filteringText))}
        onChange={({ detail }) => onChoose(detail.selectedOption.value)}
      />
    </div>
  );
}

/**
 * Who has done something lately, the account's people and its API keys, once the user chooses; whoever a link names stays chosen,
 * and only what has their name is asked for.
 */
function usePeople(chosen: string, choosing: boolean) {
  const may = useMay();
  const recent = useQuery({ ...events.list({ per_page: PER_PAGE_MAX }), enabled: choosing || chosen !== "" }).data?.data ?? [];
  const people = useQuery({
    ...users.list({ per_page: PER_PAGE_MAX }),
    enabled: (choosing || chosen.startsWith("usr_")) && may(...needsOf("/settings/people")),
  }).data?.data;
  const keys = useQuery({
    ...tokens.list({ per_page: PER_PAGE_MAX }),
    enabled: choosing || chosen.startsWith("tok_"),
  }).data?.data;
  const kinds: Readonly<Record<string, string>> = text.events.actors; // the operator and the service have these as their IDs
  const names = new Map([
    ...(chosen === "" ? [] : [[chosen, kinds[chosen] ?? chosen] as const]),
    ...recent.map(({ actor }) => [actor.id, actorInWords(actor)] as const),
    ...[...(people ?? []), ...(keys ?? [])].map(({ id, name }) => [id, name] as const),
  ]);
  return [anybody(), ...[...names].map(([value, label]) => ({ value, label })).toSorted(byLabel)];
}
