// A dialog in a file of its own, which a page loads when it first shows it, with the areas of the catalog that only the dialog needs.
import { type ComponentType, createElement, lazy, Suspense } from "react";
import { type Area, loadAreas } from "../messages/text.ts";
import { load } from "./loading.ts";

export function lazily<Props extends object>(part: () => Promise<ComponentType<Props>>, ...areas: Area[]): ComponentType<Props> {
  const Part = lazy(() =>
    load(async () => {
      const [loaded] = await Promise.all([part(), loadAreas(...areas)]);
      return { default: loaded };
    }),
  );
  return (props) => <Suspense>{createElement<Props>(Part, props)}</Suspense>;
}
