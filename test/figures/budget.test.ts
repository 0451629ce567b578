// Every endpoint has a budget of calls to the table; test/figures.alone.table.test.ts measures them.
import { expect, test } from "vitest";
import { closedRoutes } from "../harness/requests.ts";
import { BUDGET } from "./budget.ts";

test("every endpoint that needs a credential has a budget", () => {
  expect(Object.keys(BUDGET).toSorted(), "a new endpoint has a row in BUDGET of test/figures/budget.ts").toEqual(
    closedRoutes.map(({ id }) => id).toSorted(),
  );
});
