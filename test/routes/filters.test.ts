// Every list has the filters that FILTERS promises, and no others.
import { expect, test } from "vitest";
import { fieldsOf, listRoutes } from "../harness/requests.ts";
import { FILTERS } from "./filters.ts";

test("the lists and their filters are those that are promised", () => {
  const paging = ["page", "per_page", "cursor", "created_after", "created_before", "order"];
  const filters = listRoutes.map((route) => [
    route.title,
    fieldsOf(route.query)
      .fields.map(([name]) => name)
      .filter((name) => !paging.includes(name)),
  ]);
  expect(Object.fromEntries(filters), "a new list or filter has its entry in test/routes/filters.ts").toEqual(FILTERS);
});
