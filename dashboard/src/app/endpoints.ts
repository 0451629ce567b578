// The route table without schemas: what the client and the shown API calls need of it. The build replaces this file's code by the
// table itself (`vite.config.ts`), so that pages without a form load no schemas.
import { api } from "../../../shared/api/index.ts";
import { lightTable } from "./light-table.ts";

export const endpoints = lightTable(api);
