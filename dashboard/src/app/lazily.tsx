// A dialog in a file of its own, which a page loads when it first shows it, with the areas of the catalog that only the dialog
// needs. It appears as soon as all of it is there: React holds back what its own `lazy` has loaded by up to 300 ms, and once more
// for a dialog within another file.
import { type ComponentType, createElement, useEffect, useState } from "react";
import type { Area } from "../messages/text.ts";
import { withAreas } from "./with-areas.ts";

export function lazily<Props extends object>(part: () => Promise<ComponentType<Props>>, ...areas: Area[]): ComponentType<Props> {
  const find = withAreas(part, ...areas);
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props) {
    const [Part, setPart] = useState(() => loaded);
    const [failure, setFailure] = useState<{ error: unknown }>();
    useEffect(() => {
      if (Part !== undefined) return undefined;
      let isShown = true;
      const show = async (): Promise<void> => {
        try {
          const component = await find();
          loaded = component;
          if (isShown) setPart(() => component);
        } catch (error) {
          if (isShown) setFailure({ error });
        }
      };
      void show();
      return () => {
        isShown = false;
      };
    }, [Part]);
    if (failure !== undefined) throw failure.error; // for the page's boundary
    return Part === undefined ? null : createElement<Props>(Part, props);
  };
}
