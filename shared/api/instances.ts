// Instances: an ERP application on a server, with its database, filestore and domain.
import * as z from "zod";
import { EDITIONS } from "../domain/erp-versions.ts";
import {
  CERTIFICATE_STATUSES,
  DRILL,
  HEALTH_STATUSES,
  INSTANCE_ACTIONS,
  INSTANCE_STATUSES,
  PROTECTION_STATUSES,
  SERVER_STATUSES,
} from "../domain/lifecycle.ts";
import { DEFAULT_QUOTAS, PREVIOUS_DOMAINS_MAX, REDIRECT_DAYS } from "../domain/limits.ts";
import { INSTANCE_SERIES, POINTS_MAX } from "../domain/metrics.ts";
import { Metrics, metricsQuery } from "./metrics.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { justBegun } from "./just-begun.ts";
import { NOTHING_TO_RESTORE, nothingToRestore } from "./nothing-to-restore.ts";
import { Operation } from "./operations.ts";
import {
  actionNotAllowed,
  backupNotCompleted,
  filesMissing,
  operationInProgress,
  overQuota,
  serverNotActive,
  valueTaken,
} from "./errors.ts";

const InstanceStatus = z.enum(INSTANCE_STATUSES);
const ProtectionStatus = z.enum(PROTECTION_STATUSES);
const InstanceAction = z.enum(INSTANCE_ACTIONS);

const name = fields.text(64, "Shop");
/** Databases that every PostgreSQL server has. */
const POSTGRES_OWN = ["postgres", "template0", "template1"];
/** PostgreSQL's limit on names is 63 bytes; the pattern needs no quoting. */
const databaseName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}$/,
    "must start with a lowercase letter and contain only lowercase letters, digits and underscores, at most 63 characters",
  )
  .refine((value) => !POSTGRES_OWN.includes(value), `must not be one of PostgreSQL's own databases: ${POSTGRES_OWN.join(", ")}`)
  .meta({ examples: ["shop"], maxLength: 63, not: { enum: POSTGRES_OWN } });
const erpVersion = z
  .string()
  .regex(/^\d{2}\.\d$/, "must be a version from the catalog such as 19.0")
  .meta({ examples: ["19.0"], maxLength: 4 });
const edition = z.enum(EDITIONS).meta({ examples: ["community"] });

/** A password for the ERP's administrator. */
const adminPassword = fields
  .characters(12, 128)
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/, "must not contain control characters") // oxlint-disable-line no-control-regex
  .meta({ examples: ["correct-horse-battery"] });

/** What whoever creates an instance chooses, and what is shown of it. */
const chosen = {
  name,
  server_id: fields.id("server"),
  erp_version: erpVersion,
  edition,
  database_name: databaseName,
  admin_email: fields.email,
  domain: fields.domain,
};

const Certificate = z
  .object({
    status: z.enum(CERTIFICATE_STATUSES).meta({
      description:
        "`pending`: there is none yet, because the domain has no DNS record yet or the first attempt is in progress, or the server has not reported on this domain yet. `valid`. `failing`: the last attempt to get or renew it failed although the domain has a record, or it has expired or is for another domain; the server tries again by itself",
      examples: ["valid"],
    }),
    expires_at: fields.timestamp
      .nullable()
      .meta({ description: "Null without a certificate. The server renews it in time", examples: ["2027-02-18T12:00:00.000Z"] }),
    checked_at: fields.timestamp
      .nullable()
      .meta({ description: "When the server last reported it, about every ten minutes; null until it first does" }),
  })
  .meta({ description: "The TLS certificate of the domain, as the server last reported it" });
export type Certificate = z.infer<typeof Certificate>;

/** The checks of an ERP's health, in the order in which they are made. */
export const HEALTH_CHECKS = ["proxy", "page", "stylesheet", "script"] as const;

const Health = z
  .object({
    status: z.enum(HEALTH_STATUSES).meta({
      description:
        "`failing`: three looks in a row found that the ERP cannot be used, or its server has paused it; `status_reason` says why. `unknown`: it does not have to run, its server is not active, or the server has not reported for a while",
      examples: ["ok"],
    }),
    since: fields.timestamp.nullable().meta({ description: "Null if nobody has looked yet" }),
    checks: z
      .array(
        z.object({
          name: z.enum(HEALTH_CHECKS).meta({ description: "New checks may appear", examples: ["page"] }),
          passed: z.boolean().nullable().meta({ description: "Null if it could not be made, because one before it failed" }),
        }),
      )
      .meta({
        description: "What the server checks once a minute: its proxy, the ERP's sign-in page, a stylesheet and a script of it",
      }),
  })
  .meta({ description: "Whether the ERP can be used, as seen from its server" });
export type Health = z.infer<typeof Health>;
/** Less than this no ERP can do with. */
const DISK_QUOTA_BYTES_MIN = 1_000_000;
const diskQuota = z
  .number("must be a whole number")
  .int("must be a whole number")
  .min(DISK_QUOTA_BYTES_MIN, `must be at least ${DISK_QUOTA_BYTES_MIN}`)
  .max(1e15, "must be at most 1000000000000000")
  .meta({
    description:
      "How many bytes of its server's disk the instance may use; null: as much as there is. One that uses more says so in `status_reason`, and is paused if less than 5 % of the disk is free, the worst one first",
    examples: [20_000_000_000],
  });

const PreviousDomain = z.object({
  domain: fields.domain,
  domain_unicode: fields.domainUnicode,
  redirects_until: fields.timestamp,
});

export const Instance = z
  .object({
    id: fields.id("instance"),
    ...chosen,
    domain_unicode: fields.domainUnicode,
    admin_email_unicode: fields.emailUnicode,
    previous_domains: z.array(PreviousDomain).meta({
      description: `Domains that the instance had before and its server redirects to the present one for ${REDIRECT_DAYS} days, the newest first and at most ${PREVIOUS_DOMAINS_MAX}, unless another instance of the account takes them`,
      examples: [[]],
    }),
    url: z.string().meta({ examples: ["https://shop.example.com"] }),
    status: InstanceStatus.meta({ examples: ["running"] }),
    status_reason: fields.statusReason,
    reason: fields.reason,
    operation_id: fields.heldBy,
    cloned_from_backup_id: fields
      .id("backup")
      .nullable()
      .meta({ examples: [null] }),
    neutralized: z.boolean().meta({ description: "Whether scheduled jobs, mail and payments are turned off", examples: [false] }),
    allowed_actions: z.array(InstanceAction).meta({
      description:
        "The actions you can take now. Depends on the instance's status, its server's status, and whether the ERP was ever installed.",
      examples: [["stop", "restart", "backup"]],
    }),
    dns_record: z
      .object({
        type: z.literal("A"),
        name: fields.domain,
        value: z
          .string()
          .nullable()
          .meta({ description: "The server's IP address", examples: ["203.0.113.10"] }),
      })
      .meta({
        description:
          "The DNS record to create so that the domain resolves to the instance. The TLS certificate is issued once it does.",
      }),
    protection: z
      .object({
        status: ProtectionStatus.meta({
          description:
            "`unprotected`: no policy, or a disabled one, or no completed backup yet. `overdue`: no backup has been taken since a run that was due two hours ago",
          examples: ["protected"],
        }),
        last_backup_at: fields.timestamp
          .nullable()
          .meta({ description: "When the last backup was completed; safety backups do not count" }),
        next_backup_at: fields.timestamp.nullable().meta({ examples: ["2026-11-21T02:00:00.000Z"] }),
      })
      .meta({ description: "Whether the backup policy does what it says" }),
    certificate: Certificate,
    health: Health,
    disk_quota_bytes: diskQuota.nullable(),
    disk_used_bytes: fields.integer(3_200_000_000).nullable().meta({
      description:
        "What the instance uses of its server's disk, in bytes: database, files, logs, and what else its ERP has written. Measured every minute, and reported about every ten; null until then",
    }),
    missing_modules: z
      .array(z.string())
      .nullable()
      .meta({
        description:
          "Installed modules that the image of the ERP does not have, or only in an older version than the database was last updated with (up to 50), as its last start found them; null before that",
        examples: [[]],
      }),
    update_available: z
      .boolean()
      .nullable()
      .meta({
        description:
          "Whether there is a newer image of the same version than the ERP has, which a deploy with `update_image` brings. Null until the server has reported the ERP's image, which it does about every ten minutes, and the newest one is known, which is looked up every hour",
        examples: [false],
      }),
    labels: fields.shownLabels,
    created_at: fields.timestamp,
    updated_at: fields.timestamp,
  })
  .meta({ id: "Instance" });
export type Instance = z.infer<typeof Instance>;

const ServerOfInstance = z
  .object({
    name: z.string().meta({ examples: ["erp-1"] }),
    name_unicode: z.string().meta({
      description: "The name as people read it; the same as `name` unless that is international",
      examples: ["erp-1"],
    }),
    status: z.enum(SERVER_STATUSES).meta({ examples: ["active"] }),
  })
  .nullable()
  .meta({ description: "Its server; null if the credential may not read servers" });

/** One instance, with what its page says about its server and its origin. */
const ShownInstance = Instance.extend({
  server: ServerOfInstance,
  cloned_from: z
    .object({ instance_id: fields.id("instance").nullable(), instance_name: name.nullable(), created_at: fields.timestamp })
    .nullable()
    .meta({
      description:
        "The backup that it was cloned from; null if there is none, if it was deleted, or if the credential may not read backups",
      examples: [null],
    }),
}).meta({ id: "ShownInstance" });
export type ShownInstance = z.infer<typeof ShownInstance>;

/** An instance in a list: with its server's name, and without what that reports. */
export const ListedInstance = Instance.omit({ certificate: true, disk_used_bytes: true })
  .extend({ server: ServerOfInstance })
  .meta({ id: "ListedInstance" });
export type ListedInstance = z.infer<typeof ListedInstance>;

/** Fields that follow from an instance's domain, its server, its backups, and what is found out about its ERP. */
export const INSTANCE_UNVERSIONED = [
  "url",
  "domain_unicode",
  "admin_email_unicode",
  "previous_domains",
  "status_reason",
  "reason",
  "allowed_actions",
  "dns_record",
  "protection",
  "certificate",
  "health",
  "disk_used_bytes",
  "missing_modules",
  "update_available",
];

/** A new instance; its administrator's generated password is shown only once. */
const NewInstance = Instance.extend({
  admin_password: z
    .string()
    .optional()
    .meta({ description: "The generated password, shown only once", examples: ["mJ4v-9xQp-7tLw-2cZr"] }),
}).meta({ id: "NewInstance" });

/** How the example of an instance that is being created differs. */
const provisioning = {
  status: "provisioning",
  operation_id: exampleId("operation"),
  allowed_actions: [],
  protection: { status: "unprotected", last_backup_at: null, next_backup_at: null },
  certificate: { status: "pending", expires_at: null, checked_at: null },
  health: { status: "unknown", since: null, checks: [] },
  disk_quota_bytes: null,
  disk_used_bytes: null,
  missing_modules: null,
  update_available: null,
};

/** Errors of creating an instance. */
const placementErrors = () => [
  valueTaken("domain", exampleId("instance")),
  valueTaken("database_name", exampleId("instance")),
  overQuota("instance", DEFAULT_QUOTAS.instance),
  serverNotActive(exampleId("server"), "offline"),
];

const acceptMissingFiles = z
  .boolean()
  .optional()
  .meta({
    description:
      "Required as true if the backup lacks more than 1 % (and more than 3) of the files that its database lists: documents, images and attachments that nobody can open",
    examples: [true],
  });

export const list = () =>
  endpoint({
    path: "/instances",
    summary: "List instances",
    description: "Returns the account's instances, newest first.",
    access: ["instances:read"],
    ...fields.searchableListOf("instance", ListedInstance, {
      status: InstanceStatus,
      server_id: fields.id("server"),
      protection: ProtectionStatus,
      erp_version: erpVersion,
      edition,
      drill: z
        .enum([DRILL.passed, DRILL.failed])
        .meta({ description: "What came of the last drill of one of the instance's backups", examples: ["failed"] }),
      health: z
        .enum(HEALTH_STATUSES)
        .meta({ description: "Whether the ERP can be used: `health.status`", examples: ["failing"] }),
      update_available: z
        .enum(["true", "false"])
        .meta({ description: "Whether there is a newer image than the ERP has", examples: ["true"] }),
      last_backup_before: fields.queryMoment.meta({
        description: "Only instances whose last backup was completed earlier than this time, or that have none",
        examples: ["2026-11-20"],
        ...fields.MOMENT_FORM,
      }),
    }),
  });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/instances",
    summary: "Create an instance",
    description:
      "Installs the ERP on an active server. Responds immediately with the instance in `provisioning` and the administrator's " +
      "password, which is shown only once, and only if it was generated. With `backup_id`, the instance begins with the data of a completed backup of the account, whose version and edition it must have; " +
      "the administrator gets `admin_email` and the password. An uploaded backup keeps its database UUID. This needs the permission `backups:restore`, too.",
    access: ["instances:write"],
    fieldPermission: { field: "backup_id", permission: "backups:restore" },
    status: 201,
    errors: () => [...placementErrors(), backupNotCompleted("running"), filesMissing("completed", 31, 605)],
    example: provisioning,
    dryRun: true,
    starts: ["create-instance", "clone-instance"],
    body: z
      .strictObject({
        ...chosen,
        admin_email: fields.emailInput,
        domain: fields.domainInput,
        labels: fields.labels.optional(),
        backup_id: fields.id("backup").optional().meta({ description: "Begin with the data of this backup" }),
        neutralize: z
          .boolean()
          .optional()
          .meta({
            description: "Only with `backup_id`. Defaults to false for an uploaded backup, and to true for others",
            examples: [false],
          }),
        accept_missing_files: acceptMissingFiles,
        admin_password: adminPassword.optional(),
      })
      .check(nothingRestoredToNeutralize)
      .meta({ dependentRequired: { neutralize: ["backup_id"] } }),
    data: NewInstance,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/instances/:id",
    summary: "Show an instance",
    description:
      "Strongly consistent. While an operation is in progress, `operation_id` identifies it; fetch it for its progress.",
    access: ["instances:read"],
    unversioned: [...INSTANCE_UNVERSIONED, "server", "cloned_from"],
    data: ShownInstance,
  });

export const metrics = () =>
  endpoint({
    method: "GET",
    path: "/instances/:id/metrics",
    summary: "Show an instance's metrics",
    description:
      "Returns what the server measures of the instance once a minute, and sends about every ten minutes; the size of its database and files, late scheduled jobs and the longest transaction every ten. " +
      `At most ${POINTS_MAX} values a series.`,
    access: ["instances:read"],
    query: metricsQuery(INSTANCE_SERIES),
    data: Metrics,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/instances/:id",
    summary: "Change an instance",
    description:
      "All fields but the domain change immediately; the server learns of a disk quota within two minutes. A new domain starts an operation, which `operation_id` identifies; the old domain works until it finishes, and then redirects to the new one. Meanwhile, a request that names a domain is rejected, even if it names the current one.",
    access: ["instances:write"],
    errors: () => [
      valueTaken("domain", exampleId("instance")),
      operationInProgress(exampleId("operation")),
      actionNotAllowed("update", "failed"),
      serverNotActive(exampleId("server"), "offline"),
    ],
    dryRun: true,
    starts: ["update-instance"],
    unversioned: INSTANCE_UNVERSIONED,
    body: fields.atLeastOne({
      name: name.optional(),
      admin_email: fields.emailInput.optional(),
      domain: fields.domainInput.optional(),
      labels: fields.labels.optional(),
      disk_quota_bytes: diskQuota.nullable().optional(),
    }),
    data: Instance,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/instances/:id",
    summary: "Delete an instance",
    description:
      "Removes the ERP with its database and files from the server. Its backups are kept, and you can still clone them. If the server is not active, only the record is removed and `result.host_skipped` is true; the ERP is removed when the server responds again.",
    access: ["instances:write"],
    proof: () => true,
    status: 202,
    errors: () => [operationInProgress(exampleId("operation")), actionNotAllowed("delete", "provisioning")],
    example: justBegun("instance.delete", "instance"),
    dryRun: true,
    starts: ["delete-instance"],
    data: Operation,
  });
export { deleteOne as delete };

export const clone = () =>
  endpoint({
    method: "POST",
    path: "/instances/:id/clone",
    summary: "Create a new instance from a completed backup",
    description:
      "The clone gets its own database UUID, secret and base URL. By default it is neutralized: scheduled jobs, mail and payments " +
      "are turned off. If you omit `admin_password`, one is generated and shown in this response only. " +
      "You can clone a deleted instance from its backups; `server_id` is then required.",
    access: ["instances:write", "backups:restore"],
    status: 201,
    errors: () => [...placementErrors(), backupNotCompleted("running"), filesMissing("completed", 31, 605)],
    example: { ...provisioning, cloned_from_backup_id: exampleId("backup"), neutralized: true },
    dryRun: true,
    starts: ["clone-instance"],
    body: z
      .strictObject({
        name,
        domain: fields.domainInput,
        backup_id: fields.id("backup"),
        neutralize: z
          .boolean()
          .default(true)
          .meta({ examples: [true] }),
        restore_database: z
          .boolean()
          .default(true)
          .meta({ description: "false creates an empty database", examples: [true] }),
        restore_filestore: z
          .boolean()
          .default(true)
          .meta({ examples: [true] }),
        reset_users: z
          .boolean()
          .optional()
          .meta({
            description:
              "Whether to invalidate the passwords, sessions and API keys of all users except the administrator on the clone. Defaults to the value of `neutralize`",
            examples: [true],
          }),
        accept_missing_files: acceptMissingFiles,
        admin_password: adminPassword.optional(),
        labels: fields.labels.optional().meta({ description: "Defaults to the source instance's labels" }),
        server_id: fields.id("server").optional().meta({ description: "Defaults to the source instance's server" }),
        database_name: databaseName
          .optional()
          .meta({ description: "Defaults to a name derived from `name` that is unique on the server" }),
      })
      .check(nothingToRestore)
      .meta({ not: NOTHING_TO_RESTORE }),
    data: NewInstance,
  });

export const act = () =>
  endpoint({
    method: "POST",
    path: "/instances/:id/actions",
    summary: "Start, stop, restart or back up an instance",
    description:
      "Allowed when the instance is: stopped or failed for `start`, running for `stop`, running or failed for `restart`, running or stopped for `backup`. The permission depends on the action.",
    access: "credential",
    bodyPermission: {
      field: "action",
      permissions: {
        start: "instances:actions",
        stop: "instances:actions",
        restart: "instances:actions",
        backup: "backups:write",
      },
    },
    status: 202,
    errors: () => [
      operationInProgress(exampleId("operation")),
      actionNotAllowed("restart", "stopped"),
      serverNotActive(exampleId("server"), "offline"),
      overQuota("backup", DEFAULT_QUOTAS.backup),
    ],
    example: justBegun("instance.restart", "instance"),
    dryRun: true,
    starts: ["start-instance", "stop-instance", "restart-instance", "create-backup"],
    body: z.strictObject({ action: z.enum(["start", "stop", "restart", "backup"]).meta({ examples: ["restart"] }) }),
    data: Operation,
  });

/** An ERP that begins empty has nothing that could be turned off. */
function nothingRestoredToNeutralize(
  context: z.core.ParsePayload<{ backup_id?: string | undefined; neutralize?: boolean | undefined }>,
) {
  if (context.value.neutralize !== undefined && context.value.backup_id === undefined)
    context.issues.push({
      code: "custom",
      path: ["neutralize"],
      message: "is only possible with backup_id",
      input: context.value.neutralize,
    });
}
