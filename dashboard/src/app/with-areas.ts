// A part of the dashboard in a file of its own, loaded together with the areas of the catalog that it needs: for React's `lazy`.
import { type Area, loadAreas } from "../messages/text.ts";
import { load } from "./loading.ts";

export const withAreas =
  <Part>(part: () => Promise<Part>, ...areas: Area[]): (() => Promise<Part>) =>
  () =>
    load(async () => {
      const [loaded] = await Promise.all([part(), loadAreas(...areas)]);
      return loaded;
    });
