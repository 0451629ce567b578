// A deploy as it is stored, and the code as it was when the deploy was requested.
import * as z from "zod";
import { Deploy } from "../../api/deploys.ts";
import { openEnum, stored } from "../../data/stored.ts";
import type { DeployStatus } from "../../domain/lifecycle.ts";
import type { Selection } from "../../domain/module-plan.ts";
import { CodeRecord } from "./code.ts";
import { maybeText, text } from "./fields.ts";

const storedDeploy = stored(Deploy);

export const DeployRecord = storedDeploy.extend({
  account_id: text,
  image: storedDeploy.shape.image.default(null),
  choices: storedDeploy.shape.choices.default(null),
  status: openEnum<DeployStatus>(),
});
export type DeployRecord = z.infer<typeof DeployRecord>;

/** An image of the ERP: its ID, which Docker computes, and the digest by which the registry has it. */
const Image = z.object({ id: text, digest: text.nullable() });
export type Image = z.infer<typeof Image>;

export const DeployPlan = z.object({
  code: CodeRecord,
  /** What was requested to be updated. */
  select: z.custom<Selection>(),
  /** Rollbacks only: their commits aren't looked up. */
  commits: z.array(text).optional(),
  /** Likewise under which ID the machine has them, as long as it keeps them. */
  code_id: maybeText,
  subjects: z.array(text.nullable()).optional(),
  /** Rollbacks only: the image to bring back, if the ERP has another one. */
  image: Image.optional(),
  /** The packages as they were resolved; of a rollback, as they are installed again. */
  packages: z.array(text).optional(),
  /** The image with which the ERP started. Null before, and of deploys from before it was kept. */
  started_with: Image.nullable().default(null),
  /** The versions in its code of the modules that the database has after it. */
  versions: z.record(text, text).default({}),
  /** Those in the database of modules that it left as they were, where its code has others. */
  unchanged_versions: z.record(text, text).default({}),
  /** What is updated and installed, once the code was fetched. */
  update: z.array(text).default([]),
  install: z.array(text).default([]),
  /** The repositories of those that a message names. */
  sources: z.record(text, text).default({}),
});
export type DeployPlan = z.infer<typeof DeployPlan>;
