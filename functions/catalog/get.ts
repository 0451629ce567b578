// GET /catalog
import { api } from "../../shared/api/index.ts";
import { catalogue } from "../../shared/providers/catalogue.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.catalog.get)(() => catalogue());
