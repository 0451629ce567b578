// Deploys: bringing an instance's code to its ERP, rehearsed on a copy of its data first and undone exactly if it fails.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { DEPLOY_STATUS, REHEARSAL } from "../domain/lifecycle.ts";
import { DEPLOY } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import {
  actionNotAllowed,
  deployNotCompleted,
  modulesNewer,
  noBackupToRollBack,
  operationInProgress,
  serverNotActive,
} from "./errors.ts";
import { choices } from "./deploy-choices.ts";
import * as fields from "./fields.ts";
import { DEPLOY_TRIGGERS } from "../domain/code-rules.ts";

const IMAGE_EXAMPLE = "sha256:0b3c0c6f6c1d5d3ad2f5c1f3a7e9d0b14f6c3c1f1f2a3b4c5d6e7f8091a2b3c4";

const DeployStatus = z.enum(DEPLOY_STATUS);
const names = z.array(z.string()).meta({ examples: [["acme"]] });

export const Deploy = z
  .object({
    id: fields.id("deploy"),
    instance_id: fields.id("instance"),
    operation_id: fields.id("operation").meta({ description: "The operation that carries it out, which shows its progress" }),
    status: DeployStatus.meta({ examples: ["completed"] }),
    trigger: z
      .enum(DEPLOY_TRIGGERS)
      .meta({ description: "Who began it: a user, an API token or something else. New values may appear", examples: ["person"] }),
    note: z
      .string()
      .nullable()
      .meta({ examples: ["Prices with tax"] }),
    choices: z
      .object({
        modules: z.union([names, z.enum(["changed", "all"])]).meta({ examples: ["changed"] }),
        rehearse: z.boolean().meta({ examples: [true] }),
        backup_first: z.boolean().meta({ examples: [true] }),
        update_image: z.boolean().meta({ examples: [false] }),
      })
      .nullable()
      .meta({ description: "What the request chose, to repeat it; null for deploys from before this was stored" }),
    commits: z
      .array(
        z.object({
          url: z.string().meta({ examples: ["https://git.example/acme"] }),
          ref: z.string().meta({ examples: ["main"] }),
          commit: z.string().meta({ examples: ["8f3c1d5e7a90b24c6d8e0f1a2b3c4d5e6f708192"] }),
          previous_commit: z
            .string()
            .nullable()
            .meta({ description: "The commit that was deployed before", examples: [null] }),
          subject: z
            .string()
            .nullable()
            .meta({ description: "The first line of the commit's message", examples: ["Round prices"] }),
        }),
      )
      .meta({ description: "Empty until they are looked up" }),
    modules: z
      .object({
        updated: names,
        installed: names.meta({ examples: [[]] }),
        changed_but_not_installed: names.meta({ examples: [[]] }),
      })
      .nullable()
      .meta({ description: "Null until the code was checked; at most as many names of each kind as 3 KB hold" }),
    image: z
      .object({
        id: z.string().meta({ examples: [IMAGE_EXAMPLE] }),
        created_at: fields.timestamp,
        previous_id: z
          .string()
          .nullable()
          .meta({ description: "The image that the ERP had before", examples: [IMAGE_EXAMPLE] }),
      })
      .nullable()
      .meta({ description: "The image of the ERP that it has brought; null if it has brought none" }),
    python_packages: z.array(z.string()).meta({ description: "As they were resolved", examples: [["num2words==0.5.13"]] }),
    rehearsal: z
      .object({
        status: z.enum(REHEARSAL).meta({ description: "New values may appear", examples: ["passed"] }),
        duration_seconds: z
          .number()
          .min(0)
          .nullable()
          .meta({
            description: "How long the update, or the start where no module is updated, took; null unless it passed",
            examples: [12],
          }),
        error: z
          .string()
          .nullable()
          .meta({ description: "Why it failed, or was skipped", examples: [null] }),
      })
      .nullable()
      .meta({
        description:
          "The new code, and the update, on a copy of the data. `skipped`: no module is updated, and the server had no place or room for it. Null if none was requested, or the data of a backup comes back",
      }),
    backup_id: fields.id("backup").nullable().meta({ description: "The backup that was taken before; null if there was none" }),
    downtime_seconds: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: "How long the ERP was stopped; null if it was not, or is not known", examples: [9] }),
    failed_step: z
      .string()
      .nullable()
      .meta({ description: "The `step_code` of the operation's step that failed", examples: [null] }),
    log_excerpt: z
      .string()
      .nullable()
      .meta({
        description: `Of a step that failed: the last ${DEPLOY.logLines} lines of its log, at most 8 KB`,
        examples: [null],
      }),
    created_by: fields.Actor,
    created_at: fields.timestamp,
    completed_at: fields.timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: "Deploy" });
export type Deploy = z.infer<typeof Deploy>;

export const listOfInstance = () =>
  endpoint({
    path: "/instances/:id/deploys",
    summary: "List an instance's deploys",
    description: `Strongly consistent. Returns the newest ${DEPLOY.recordsMax} deploys; older ones are not kept.`,
    access: ["instances:read"],
    ...fields.resourceListOf("deploy", Deploy, { status: DeployStatus }),
  });

/** What a request asks for. */
const buildBody = () =>
  z
    .strictObject({
      ...choices(),
      rollback_to: fields.id("deploy").optional().meta({
        description:
          "A completed deploy of this instance: deploys its commits instead of the newest ones, with its packages, modules, variables and image. Only if the database has no module in a higher version",
      }),
      restore_database: z.boolean().optional().meta({
        description:
          "With `rollback_to`: the data comes back, too, from the backup that was taken before the next deploy. Needs the permission `backups:restore`",
      }),
    })
    .refine(({ rollback_to, restore_database }) => restore_database !== true || rollback_to !== undefined, {
      message: "is only possible with rollback_to",
      path: ["restore_database"],
    });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/instances/:id/deploys",
    summary: "Deploy an instance's code",
    description:
      "Fetches the newest commits, updates the modules that have changed and installs those that are wanted. The new code, and the update, is tried on a copy of the " +
      "database first, so that a broken module costs no downtime; then the ERP stops for the real one. If anything fails, code and data are put back as they were.",
    access: ["instances:write"],
    status: 201,
    errors: () => [
      actionNotAllowed("deploy", "updating"),
      operationInProgress(exampleId("operation")),
      serverNotActive(exampleId("server"), "offline"),
      deployNotCompleted("failed"),
      modulesNewer("running", ["acme"]),
      noBackupToRollBack("running"),
    ],
    example: {
      status: "pending",
      commits: [],
      modules: null,
      image: null,
      python_packages: [],
      rehearsal: null,
      backup_id: null,
      downtime_seconds: null,
    },
    starts: ["deploy-instance"],
    dryRun: true,
    fieldPermission: { field: "restore_database", permission: "backups:restore" },
    body: buildBody(),
    data: Deploy,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/deploys/:id",
    summary: "Show a deploy",
    description: "Strongly consistent. While it runs, its operation shows the progress.",
    access: ["instances:read"],
    unversioned: [],
    data: Deploy,
  });
