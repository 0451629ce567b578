// GET /health
import * as health from "../../shared/api/health.ts";
import { commit, env, version } from "../../shared/platform/env.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(health.get)(() =>
  Promise.resolve({ status: "ok", environment: env().ENVIRONMENT, version: version(), commit: commit() }),
);
