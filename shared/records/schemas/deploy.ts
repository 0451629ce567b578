// A deploy as it is stored, and the code as it was when the deploy was requested.
import * as z from "zod";
import { Deploy } from "../../api/deploys.ts";
import { growing, stored } from "../../data/stored.ts";
import type { DeployStatus } from "../../domain/lifecycle.ts";
import type { Selection } from "../../domain/module-plan.ts";
import { CodeRecord } from "./code.ts";
import { text } from "./fields.ts";

const storedDeploy = stored(Deploy);

export const DeployRecord = storedDeploy.extend({
  account_id: text,
  image: storedDeploy.shape.image.default(null),
  status: growing<DeployStatus>(),
});
export type DeployRecord = z.infer<typeof DeployRecord>;

export const DeployPlan = z.object({
  code: CodeRecord,
  /** What was requested to be updated. */
  select: z.custom<Selection>(),
  /** What is updated and installed, once the code was fetched. */
  /** Of a rollback: the commits, which are not looked up. */
  commits: z.array(text).optional(),
  /** The versions of the modules that the database has after it. */
  versions: z.record(text, text).default({}),
  update: z.array(text).default([]),
  install: z.array(text).default([]),
});
export type DeployPlan = z.infer<typeof DeployPlan>;
