// GET /openapi.json
import { api } from "../../shared/api/index.ts";
import { openapi } from "../../shared/api/openapi.ts";
import { env } from "../../shared/platform/env.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.openapi.get)(() => Promise.resolve({ ...openapi(env().ENVIRONMENT) }));
