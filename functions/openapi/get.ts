// GET /openapi.json
import * as openapi from "../../shared/api/openapi.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import { env } from "../../shared/platform/env.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(openapi.get)(() => Promise.resolve({ ...openapiDocument(env().ENVIRONMENT) }));
