// GET /catalog
import { api } from "../../shared/api/index.ts";
import { catalog } from "../../shared/providers/catalog.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.catalog.get)(() => catalog());
