// GET /catalog
import * as catalog from "../../shared/api/catalog.ts";
import { readCatalog } from "../../shared/providers/catalog.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(catalog.get)(() => readCatalog());
