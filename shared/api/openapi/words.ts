// The text of the OpenAPI document that belongs to no endpoint: conventions, and what every error means.
import {
  BODY_BYTES_MAX,
  IDEMPOTENCY_HOURS,
  LOGIN_FAILURES,
  LOGIN_WINDOW_SECONDS,
  REQUEST_LIMITS,
  SESSION_HOURS,
  WINDOW_SECONDS,
} from "../../domain/limits.ts";
import { type ErrorCode, ERRORS, OPERATION_ERRORS, type OperationErrorCode } from "../errors.ts";
import type { Api } from "../index.ts";

interface ResourceWords {
  name: string;
  description: string;
}

/** Headings of the API page, in order; add each new resource here. */
export const TAGS: Record<keyof Api, ResourceWords> = {
  servers: { name: "Servers", description: "Machines at an infrastructure provider. Your instances run on them." },
  instances: {
    name: "Instances",
    description:
      "ERP applications. Each runs on a server and has its own database, filestore and domain. `allowed_actions` lists the actions you can take now.",
  },
  backupPolicy: {
    name: "Backup policies",
    description:
      "When an instance is backed up automatically, and which of those backups are kept. An instance has at most one policy; its `protection` shows whether the policy does what it says.",
  },
  code: {
    name: "Code",
    description:
      "What an instance runs besides the ERP: modules from your repositories, Python packages and environment variables.",
  },
  deploys: {
    name: "Deploys",
    description:
      "Bringing an instance's code to its ERP. A deploy is rehearsed on a copy of the data first, and if it fails, code and data are put back as they were.",
  },
  backups: {
    name: "Backups",
    description:
      "Archives of an instance's database and files. You can restore them, clone from them and download them, even after the instance is deleted.",
  },
  uploads: {
    name: "Uploads",
    description:
      "Archives of an ERP that runs elsewhere. You send one in parts, straight to the storage; completed, it becomes a backup from which you can create an instance.",
  },
  operations: {
    name: "Operations",
    description:
      "Long-running work, from the request to the result. A resource has at most one operation in progress; its `operation_id` identifies it.",
  },
  bulk: {
    name: "Bulk actions",
    description:
      "The same action on many resources. The service carries it out, at a pace that servers bear, and says of each resource what became of it.",
  },
  overview: { name: "Overview", description: "How much there is of everything, in one small response to ask for often." },
  search: { name: "Search", description: "Finds a server, an instance or a backup by what it is called." },
  sshKeys: { name: "SSH keys", description: "Public keys that are installed on new servers, so that you can log in over SSH." },
  catalog: { name: "Catalog", description: "The providers, regions, sizes, ERP versions and editions that you can choose from." },
  settings: { name: "Settings", description: "The account's settings and quotas." },
  sso: {
    name: "Single sign-on",
    description:
      "The identity provider (OpenID Connect) that the account's people sign in with, and the domains of their emails.",
  },
  alertSettings: {
    name: "Alert settings",
    description: "The thresholds at which alerts open, for all servers and instances of the account.",
  },
  alerts: {
    name: "Alerts",
    description:
      "What is wrong with a server or an instance, from when it was found until it is over. An alert closes by itself, only a fifth beyond its threshold, so that it does not flap.",
  },
  events: {
    name: "Events",
    description: "The account's audit log (sign-ins, token changes and every other change), and what came of it.",
  },
  webhooks: {
    name: "Webhooks",
    description:
      "URLs that are sent events as they happen: signed JSON (Standard Webhooks), or messages of a chat. Each event is delivered at least once, in any order, and tried again for three days.",
  },
  tokens: { name: "API tokens", description: "Credentials for programs. You create and revoke them in a dashboard session." },
  users: { name: "Users", description: "The people of the account, who sign in to the dashboard, and their roles." },
  invitations: { name: "Invitations", description: "Links by mail, with which people become users of the account." },
  secondFactors: {
    name: "Second factors",
    description:
      "What you prove with, beside your password, that it is you: passkeys, an authenticator app, and recovery codes for the day when both are lost.",
  },
  auth: { name: "Session", description: "Sign in to the dashboard, and find out whose credential you are using." },
  health: { name: "Health", description: "Check whether the service responds." },
  openapi: { name: "OpenAPI document", description: "This document." },
  sandbox: {
    name: "Sandbox",
    description:
      "Test environment only: the data of a simulated ERP. Change it to see that backups, restores and clones really carry it.",
  },
};

/** Maps each error code to a sentence about when it occurs. */
export const WHEN: Record<ErrorCode, string> = {
  MALFORMED_REQUEST: "The body is not a JSON object, or it contains a duplicate key",
  UNAUTHORIZED: "The token is missing or invalid, or the email, password, code or passkey is wrong",
  SECOND_FACTOR_REQUIRED:
    "The password is right, and the user has a second factor; `details` has the `challenge`, the `methods` and the `passkey_options` for `POST /auth/login/second-factor`",
  SECOND_FACTOR_SETUP_REQUIRED:
    "The account requires a second factor of the user, whose sessions can only call `/auth/*` until they have one",
  REAUTHENTICATION_REQUIRED:
    "The action needs a fresh proof of the user's second factor; `details` has what `POST /auth/reauthenticate` needs. Then repeat the request",
  FORBIDDEN: "The credential does not have the required permission or role, or the endpoint needs a dashboard session",
  NOT_FOUND:
    "The account has no such resource, or the API has no such path. The response is the same whether the ID is unused or belongs to another account.",
  METHOD_NOT_ALLOWED: "The path does not support this method; `Allow` lists those it does",
  CONFLICT: "A unique value is taken, or other resources depend on this one; `details` names the field or the resource",
  INVALID_STATE: "The resource's status does not allow the action; `details.status` is that status",
  OPERATION_IN_PROGRESS: "Another operation is in progress on the resource; `details.operation_id` identifies it",
  QUOTA_EXCEEDED: "The account has reached a quota; `details` has `resource` and `limit`",
  IDEMPOTENCY_IN_PROGRESS: "The first request with this `Idempotency-Key` is still in progress, or its work has not started yet",
  PRECONDITION_FAILED: "The resource is no longer the version in `If-Match`; `details.etag` is the current one",
  PAYLOAD_TOO_LARGE: `The body is larger than ${BODY_BYTES_MAX / 1024} KiB`,
  UNSUPPORTED_MEDIA_TYPE: "The body is not `application/json`, or has a `Content-Encoding` other than `gzip` and `deflate`",
  VALIDATION_ERROR:
    "A parameter is invalid; `details` has the `field` and `reason` of the first problem, and `errors` lists all of them",
  IDEMPOTENCY_KEY_REUSED: "The `Idempotency-Key` was already used with a different method, path or body",
  RATE_LIMIT_EXCEEDED:
    "Too many requests; retry after `Retry-After` seconds. `details` has `limit`, `window_seconds` and `scope`",
  INTERNAL_ERROR: "An error in the service; include the request ID when you report it",
  SERVICE_UNAVAILABLE: "A dependency of the service is down or overloaded; retry after `Retry-After` seconds",
};

/** Why operations fail. */
const WORK_FAILED: Record<OperationErrorCode, string> = {
  PROVIDER_ERROR: "The infrastructure provider returned an error",
  PROVIDER_QUOTA_EXCEEDED: "The quota of the account at the provider is used up",
  PROVIDER_OUT_OF_CAPACITY: "The provider has no machine of this size available in the region",
  PROVIDER_UNAUTHORIZED: "The provider rejected the service's credentials",
  HOST_UNREACHABLE: "The server could not be reached",
  HOST_JOB_FAILED: "A job failed on the server",
  BACKUP_CORRUPT:
    "The archive cannot be used: it does not match its checksum, is damaged or incomplete, or an uploaded one is not a backup of the ERP. The message says why, and the backup becomes `failed`",
  STORAGE_ERROR: "The backup storage returned an error",
  CODE_UNREACHABLE: "A repository could not be read, or its ref is no longer the commit that was to be deployed",
  CODE_INVALID:
    "A repository has no module, or one that cannot be used; a module that was named is not installed; or a rollback would take a module back to a lower version. The message names it",
  BUILD_FAILED: "The Python packages could not be installed",
  REHEARSAL_FAILED:
    "On a copy of the data, the update failed, the ERP did not start with the new code, or the rehearsal did not end in time; the ERP was not interrupted",
  UPDATE_FAILED: "The update of the modules failed; the code and the data were put back",
  HEALTH_CHECK_FAILED: "The ERP did not respond with the new code; the code and the data were put back",
  TIMEOUT: "The operation did not finish in time",
  CANCELLED:
    "The operation was stopped: by the operator of the service, or because something that it needs was deleted meanwhile, such as the SSH key of a new server",
  INTERNAL_ERROR: "An error in the service",
};

const table = ([head = [], ...rows]: readonly string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const errorCodes = Object.keys(ERRORS).filter((name): name is ErrorCode => Object.hasOwn(ERRORS, name));

/** The tables of error codes for this document and for docs/api.md, each with its header row. */
export const ERROR_TABLE: readonly string[][] = [
  ["Status", "Code", "When"],
  ...errorCodes.map((code) => [String(ERRORS[code].status), `\`${code}\``, WHEN[code]]),
];
export const OPERATION_ERROR_TABLE: readonly string[][] = [
  ["Code", "Meaning"],
  ...OPERATION_ERRORS.map((code) => [`\`${code}\``, WORK_FAILED[code]]),
];

export const DESCRIPTION = `
Manage servers, the ERP instances on them, and backups of those instances.

## Authentication
Send \`Authorization: Bearer <token>\` with every request, except to the few public endpoints. An API token (\`svc_live_…\` or \`svc_test_…\`)
has the permissions that you gave it. A session token from \`POST /auth/login\` has the permissions of its user's role and expires after
${SESSION_HOURS} hours. A token belongs to one environment and one account. Revoking a token or signing out takes effect with the next request.

## Requests and responses
Requests and responses are JSON in UTF-8 with snake_case names. Timestamps are ISO 8601 in UTC with milliseconds. The prefix of
an ID shows what it identifies: \`srv_\` server, \`ins_\` instance, \`bak_\` backup, \`upl_\` upload, \`dep_\` deploy, \`op_\` operation, \`key_\` SSH key,
\`tok_\` token, \`evt_\` event, \`usr_\` user, \`acc_\` account. IDs sort by creation time; those of a scheduled backup and its operation by the
time at which it was due, and that of an uploaded backup by the beginning of its upload.

A success is \`{"success": true, "data": …}\`, with \`meta\` on lists. An error is \`{"success": false, "error": {"code", "message", "details"}}\`.
A request that creates a resource returns 201 and the resource's \`Location\`. A request that starts work on an existing resource returns 202, the
operation, and the operation's \`Location\`. Unknown fields, unknown query parameters and duplicate keys are errors; the service never ignores them.
Your client must ignore response fields that it does not know.

The service returns your \`X-Request-ID\` (1 to 128 characters of \`A-Za-z0-9._:-\`) in the response and stores it on the operation that the
request starts. If you send none, the service generates one.

Every GET endpoint also supports HEAD: same status and headers, no body, and it counts as a GET. Responses of 1 KB and more are compressed if you
send \`Accept-Encoding\`. Responses must not be cached (\`Cache-Control: no-store\`), except this document, which has an \`ETag\`.

## Versions of a resource
The response for a single resource has an \`ETag\`. Send it as \`If-Match\` with a PUT or DELETE to make the change only if the resource is still
that version. Otherwise the response is 412, with the current version in \`details.etag\`. Without \`If-Match\`, changes to different fields do not
overwrite each other. A GET with \`If-None-Match\` returns 304 without a body if nothing has changed. Fields that change on their own
(\`last_seen_at\`, \`last_used_at\`, \`last_used_ip\`, \`disk_free_bytes\`, \`memory_free_bytes\`, \`needs_reboot\`, \`reported_at\`, \`certificate\`)
or follow from something else (\`url\`, \`allowed_actions\`, \`dns_record\`, \`protection\`, \`next_run_at\`, \`next_runs\`, \`last_run\`, \`quotas\`) do not change the version: to
wait for them, read without \`If-None-Match\`.

## Operations
Requests that create, delete or restore a server, an instance or a backup respond immediately, and the work continues as an operation. To follow it, call
\`GET /operations/:id?wait=20\`, which responds as soon as the operation finishes, or after 20 seconds. If an operation fails, its \`error.code\`
says why, and its changes are undone. A deletion that fails is not undone: delete again. If the undo fails, too, \`error.message\` says so, and
the operators are notified:

${table(OPERATION_ERROR_TABLE)}

## Lists
Lists are sorted newest first. Use \`page\` and \`per_page\` (at most 100) to get any page; a page past the end is empty. \`meta.total\` is the
number of matching records. To walk a list of any length at constant cost, pass \`meta.next_cursor\` as \`cursor\`; you cannot combine it with
\`page\`. A cursor belongs to the list's filters and order. Filters can be combined, and all must hold. \`search\` finds words by their beginnings, without case, accents and apostrophes.
Lists are eventually consistent; a GET of a single resource is strongly consistent.

## Limits
You can send ${REQUEST_LIMITS.all} requests in any ${WINDOW_SECONDS} seconds per token (per user in the dashboard). Of those, ${REQUEST_LIMITS.create_delete} can create or delete
a resource. Requests that get a 429 do not count. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` (Unix seconds) describe whichever of the two
limits has the smaller share left, whatever the request was. Sign-in allows ${LOGIN_FAILURES.pair} failures in ${LOGIN_WINDOW_SECONDS / 60} minutes for an email from one IP address, and
${LOGIN_FAILURES.address} from one IP address. Bodies can have up to ${BODY_BYTES_MAX / 1024} KiB.

## Idempotency
Send \`Idempotency-Key\` (1 to 255 printable ASCII characters) with a POST to make it safe to retry. The service stores a successful response for
${IDEMPOTENCY_HOURS} hours. If you send the same request again, you get that response with \`Idempotent-Replayed: true\`, and nothing is done twice.
Presigned addresses are not stored: a retry for parts of an upload gets new ones. Sign-in and sign-out do not support it.

## Errors
${table(ERROR_TABLE)}

The cloud gateway rejects some requests before they reach the service, with error messages of its own: bodies over 10 MB, headers over 10 KB and
invalid percent-encoding.

## Versioning
\`/api/v1\` only grows: new endpoints, new optional request fields, new response fields, and new values of enumerations in responses
(\`x-extensible-enum\`): show a value that you do not know as it is. Any other change will be \`/api/v2\`. \`/api/v1\` will then stay available for 12 months, with \`Deprecation\` and \`Sunset\` headers.
`.trim();
