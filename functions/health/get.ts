// GET /health
import { api } from "../../shared/api/index.ts";
import { commit, env, version } from "../../shared/platform/env.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.health.get)(() =>
  Promise.resolve({ status: "ok", environment: env().ENVIRONMENT, version: version(), commit: commit() }),
);
