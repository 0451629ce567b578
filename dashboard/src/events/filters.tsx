// Filters of the activity: by person, kind, resource and day.
import Button from "@cloudscape-design/components/button";
import Select from "@cloudscape-design/components/select";
import { useSearchParams } from "react-router";
import { EVENT_CLASSES, type EventClass } from "../../../shared/domain/event-types.ts";
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { PersonFilter, ResourceFilter, TypeFilter } from "../operations/filters.tsx";
import { addressOfDay, dayOfAddress, rangeOfAddress, useZone } from "../resource/words/moment.ts";
import type { Narrowing } from "../resource/list/list-query.ts";
import type { ListState } from "../resource/list/use-list-state.ts";
import { actionInWords, actionTypes } from "./words.ts";

const classIn = (listState: ListState): EventClass => (listState.class === "outcomes" ? "outcomes" : "audit");

export function eventQuery(listState: ListState): ListQuery {
  const { type, actor, resource, day = "" } = listState;
  const range = rangeOfAddress(day);
  return {
    class: classIn(listState),
    ...(type && { type }),
    ...(actor && { actor }),
    ...(resource && { resource_id: resource }),
    ...(range && { created_after: range.from, created_before: range.to }),
  };
}

export const EventFilters: Narrowing["Fields"] = ({ listState, go }) => {
  const say = text.events.filters;
  useZone(); // a day begins when it begins there
  const classes = EVENT_CLASSES.map((value) => ({ value, label: say.classes[value] }));
  const { day = "" } = listState;
  return (
    <>
      <div className="filter">
        <Select
          ariaLabel={say.class}
          options={classes}
          selectedOption={classes.find(({ value }) => value === classIn(listState)) ?? null}
          onChange={({ detail }) => go({ ...listState, page: 1, type: undefined, class: detail.selectedOption.value })}
        />
      </div>
      <PersonFilter listState={listState} go={go} />
      <TypeFilter types={actionTypes(classIn(listState))} inWords={actionInWords} listState={listState} go={go} />
      <input
        className="date"
        type="date"
        aria-label={say.day}
        value={dayOfAddress(day)}
        onChange={({ target }) => go({ ...listState, page: 1, day: addressOfDay(target.value) })}
      />
      <ResourceFilter listState={listState} go={go} />
    </>
  );
};

/** A button of a row: only events like it. */
export function Only({ name, value, label }: { name: "actor" | "resource"; value: string; label: string }) {
  const [, setSearch] = useSearchParams();
  const narrow = (): void =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.set(name, value);
      after.delete("page");
      return after;
    });
  return (
    <Button
      variant="inline-icon"
      iconName="filter"
      ariaLabel={name === "actor" ? text.events.filters.onlyBy(label) : text.events.filters.onlyAbout(label)}
      onClick={narrow}
    />
  );
}
