// The filters of a list that the user has given a name, kept in this browser for them alone: the names
// may say something that the next person to sign in here may not read.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useState } from "react";
import { useLocation } from "react-router";
import { lazily } from "../../app/lazily.tsx";
import { text } from "../../messages/text.ts";
import { session } from "../../session/session.ts";
import { listKey } from "./use-preferences.ts";
import { type ListState, PARAMETERS } from "./use-list-state.ts";
import { parseJson } from "../../../../shared/domain/json.ts";

const NameFilters = lazily(async () => (await import("./name-filters.tsx")).NameFilters);

interface Saved {
  name: string;
  place: Partial<ListState>;
}

/** The stored value may come from another version, or be anything: what is not valid is left out. */
function stored(key: string): Saved[] {
  const value = parseJson(localStorage.getItem(key) ?? "[]");
  return Array.isArray(value) ? value.flatMap((each: unknown) => savedIn(each) ?? []) : [];
}

function savedIn(value: unknown): Saved | undefined {
  if (typeof value !== "object" || value === null || !("name" in value) || !("place" in value)) return undefined;
  const { name, place: listState } = value;
  if (typeof name !== "string" || typeof listState !== "object" || listState === null) return undefined;
  const entries = PARAMETERS.map((each) => [each, Reflect.get(listState, each)]).filter(
    ([, filter]) => typeof filter === "string",
  );
  return { name, place: Object.fromEntries(entries) };
}

interface Props {
  /** Distinguishes the lists of one page. */
  prefix: string;
  listState: ListState;
  go: (next: ListState) => void;
}

export function SavedFilters({ prefix, listState, go }: Props) {
  const say = text.resource.find.saved;
  const { pathname } = useLocation();
  const key = listKey(`filters ${session()?.user.id}`, pathname, prefix);
  const [saved, set] = useState(() => stored(key));
  const [naming, setNaming] = useState(false);
  /** Another tab may have saved some since. */
  const keep = (change: (before: readonly Saved[]) => Saved[]): void => {
    const next = change(stored(key));
    localStorage.setItem(key, JSON.stringify(next));
    set(next);
  };
  const chosen = PARAMETERS.flatMap((name) => (listState[name] ? [[name, listState[name]]] : []));
  return (
    <>
      <ButtonDropdown
        items={[
          ...saved.map(({ name }, index) => ({ id: `go ${index}`, text: name })),
          {
            id: "save",
            text: say.save,
            ...(chosen.every(([name]) => name === "sort") && { disabled: true, disabledReason: say.nothing }),
          },
          ...saved.map(({ name }, index) => ({ id: `remove ${index}`, text: say.remove(name) })),
        ]}
        onItemClick={({ detail }) => {
          const [action, index = ""] = detail.id.split(" ");
          const one = saved[Number(index)];
          if (action === "save") setNaming(true);
          else if (action === "go") go({ ...one?.place, page: 1 });
          else keep((before) => before.filter((each) => each.name !== one?.name));
        }}
      >
        {say.title}
      </ButtonDropdown>
      {naming && (
        <NameFilters
          onName={(name) => {
            keep((before) => [...before.filter((each) => each.name !== name), { name, place: Object.fromEntries(chosen) }]);
            setNaming(false);
          }}
          onDismiss={() => setNaming(false)}
        />
      )}
    </>
  );
}
