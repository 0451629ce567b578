// A dialog in a file of its own, which a page loads when it first shows it, with the areas of the catalog that only the dialog
// needs.
import { type ComponentType, createElement, lazy, Suspense } from "react";
import type { Area } from "../messages/text.ts";
import { withAreas } from "./with-areas.ts";

export function lazily<Props extends object>(part: () => Promise<ComponentType<Props>>, ...areas: Area[]): ComponentType<Props> {
  const Part = lazy(withAreas(async () => ({ default: await part() }), ...areas));
  return (props) => <Suspense>{createElement<Props>(Part, props)}</Suspense>;
}
