// The parts of a resource's page, one at a time, each with its own address: `?tab=backups`. What is not shown loads nothing.
import type { ReactNode } from "react";
import { useLocation, useSearchParams } from "react-router";
import { useFollow } from "../../app/follow.ts";

interface Tab<Id> {
  id: Id;
  label: string;
}

/** The tab of the address; `implied` is that of an older address, which names only what is in it. */
export function useTab<Id extends string>(ids: readonly [Id, ...Id[]], implied?: Id): Id {
  const [search] = useSearchParams();
  return ids.find((id) => id === search.get("tab")) ?? implied ?? ids[0];
}

interface Props<Id> {
  /** Whose parts these are, for screen readers. */
  label: string;
  tabs: readonly Tab<Id>[];
  chosen: Id;
  children: ReactNode;
}

/** Links rather than the design system's tabs: they can be opened beside each other, and weigh nothing. */
export function Tabs<Id extends string>({ label, tabs, chosen, children }: Props<Id>) {
  const { pathname } = useLocation();
  const follow = useFollow();
  return (
    <>
      <nav className="tabs" aria-label={label}>
        {tabs.map(({ id, label: name }, index) => {
          const href = index === 0 ? pathname : `${pathname}?tab=${id}`;
          return (
            <a
              key={id}
              href={href}
              {...(id === chosen && { "aria-current": "page" as const })}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab or window of the browser
                follow({ preventDefault: () => event.preventDefault(), detail: { href } });
              }}
            >
              {name}
            </a>
          );
        })}
      </nav>
      {children}
    </>
  );
}
