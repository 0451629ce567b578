// The words of the API's description that no endpoint says: conventions, and what every error means.
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

type ResourceWords = { name: string; description: string };

/** Headings of the API page, in its order; a new resource has to be named here. */
export const TAGS: Record<keyof Api, ResourceWords> = {
  servers: { name: "Servers", description: "Machines at an infrastructure provider, on which instances are placed." },
  instances: {
    name: "Instances",
    description:
      "ERP applications, each on a server, with a database, a filestore and a domain. `allowed_actions` says what would be accepted now.",
  },
  backups: {
    name: "Backups",
    description:
      "Archives of an instance's database and files. They outlive the instance, and can be restored, cloned from and downloaded.",
  },
  operations: {
    name: "Operations",
    description:
      "Long work, from its request to its end. One operation at a time holds a resource; the resource's `operation_id` names it.",
  },
  sshKeys: { name: "SSH keys", description: "Public keys that are put on the servers created with them." },
  catalog: { name: "Catalogue", description: "The providers, regions, sizes, ERP versions and editions that can be asked for." },
  settings: { name: "Settings", description: "The account's own settings, its quotas and what is used of them." },
  events: { name: "Events", description: "The account's audit log: sign-ins, tokens, and every change." },
  tokens: { name: "API tokens", description: "Credentials for programs. They are made and revoked in a dashboard session only." },
  auth: { name: "Session", description: "Signing in to the dashboard, and who a credential belongs to." },
  health: { name: "Health", description: "Whether the service answers." },
  openapi: { name: "Description", description: "This document." },
  sandbox: {
    name: "Sandbox",
    description:
      "In the test environment only: what people wrote in a simulated ERP, so that anyone can see that backups really carry it.",
  },
};

/** When each error is answered. */
export const WHEN: Record<ErrorCode, string> = {
  MALFORMED_REQUEST: "The body is not a JSON object, or has a key twice",
  UNAUTHORIZED: "No token is provided, or the token is invalid",
  FORBIDDEN: "The credential lacks the permission needed",
  NOT_FOUND: "There is no such resource in this account; another account's id answers exactly like an unused one",
  METHOD_NOT_ALLOWED: "The path has other methods, named in `Allow`",
  CONFLICT: "A unique value is taken, or something depends on the resource; `details` names the field or the resource",
  INVALID_STATE: "The resource's state forbids the action; `details.status` holds the state",
  OPERATION_IN_PROGRESS: "Another operation holds the resource; `details.operation_id` names it",
  QUOTA_EXCEEDED: "The account has as much as it may have; `details` holds `resource` and `limit`",
  IDEMPOTENCY_IN_PROGRESS: "The first request with this `Idempotency-Key` is still running",
  PRECONDITION_FAILED: "`If-Match` is of another version of the resource; `details.etag` is the present one",
  PAYLOAD_TOO_LARGE: `The body is larger than ${BODY_BYTES_MAX / 1024} KiB`,
  UNSUPPORTED_MEDIA_TYPE: "The body is not `application/json`",
  VALIDATION_ERROR:
    "A parameter is invalid; `details` holds `field` and `reason` of the first problem, and `errors` with all of them",
  IDEMPOTENCY_KEY_REUSED: "The `Idempotency-Key` was used with another method, path or body",
  RATE_LIMIT_EXCEEDED:
    "Over a limit; `Retry-After` says when to come back, `details` holds `limit`, `window_seconds` and `scope`",
  INTERNAL_ERROR: "A fault of the service; quote the request id when you report it",
  SERVICE_UNAVAILABLE: "Something that the service needs is down or overloaded; try again after `Retry-After`",
};

/** Why long work fails. */
const WORK_FAILED: Record<OperationErrorCode, string> = {
  PROVIDER_ERROR: "The infrastructure provider failed",
  PROVIDER_QUOTA_EXCEEDED: "The account at the provider may have no more",
  PROVIDER_OUT_OF_CAPACITY: "The provider has no such machine free in the region now",
  PROVIDER_UNAUTHORIZED: "The provider refused the service's credentials",
  HOST_UNREACHABLE: "The server could not be reached",
  HOST_JOB_FAILED: "The work failed on the server",
  BACKUP_CORRUPT: "The archive is not what was stored: its checksum differs",
  STORAGE_ERROR: "The storage of backups failed",
  TIMEOUT: "The work did not end in time",
  CANCELLED: "The work was stopped from outside",
  INTERNAL_ERROR: "A fault of the service",
};

const table = (...rows: string[][]): string => rows.map((row) => `| ${row.join(" | ")} |`).join("\n");

const errorCodes = Object.keys(ERRORS).filter((name): name is ErrorCode => Object.hasOwn(ERRORS, name));

export const DESCRIPTION = `
Manages servers, ERP instances on them, and backups of those instances.

## Authentication
Every request but the few that are open to all carries \`Authorization: Bearer <token>\`. An API token (\`svc_live_…\` or \`svc_test_…\`) has
the permissions that it was given. A session token from \`POST /auth/login\` is good for ${SESSION_HOURS} hours and has all permissions of its
account. A token belongs to one environment and one account; revoked or signed out, it is refused from the very next request on.

## Requests and answers
JSON in, JSON out, UTF-8, snake_case. Timestamps are ISO 8601 UTC with milliseconds. Ids are sortable by creation time and say what they
name: \`srv_\` server, \`ins_\` instance, \`bak_\` backup, \`op_\` operation, \`key_\` SSH key, \`tok_\` token, \`evt_\` event, \`usr_\` user,
\`acc_\` account.

A success is \`{"success": true, "data": …}\`, with \`meta\` on lists; a failure is \`{"success": false, "error": {"code", "message", "details"}}\`.
A new resource answers 201 and \`Location\`; work that has begun on something answers 202 with the operation, and \`Location\` leads to it.
Unknown fields and query parameters are refused, never ignored; so is a key that an object has twice. A client must ignore fields of an answer that it does not know.

\`X-Request-ID\` (1 to 128 characters of \`A-Za-z0-9._:-\`) is echoed on the answer and kept on the operation that the request starts;
without one the service makes it.

Every GET answers HEAD, too: the same status and headers, without the body, counted like a GET. Answers of 1 KB and more are compressed for
clients that send \`Accept-Encoding\`. No answer may be cached (\`Cache-Control: no-store\`) but this document, which has an \`ETag\`.

## Versions of a resource
A single resource comes with an \`ETag\`. Send it as \`If-Match\` with a PUT or DELETE, and the change is made only if the resource is still that
version; otherwise the answer is 412, with the present one in \`details.etag\`. Without \`If-Match\`, changes of different fields do not undo each
other. What changes by itself (\`last_seen_at\`, \`last_used_at\`, \`last_used_ip\`) or follows from something else (\`url\`, \`allowed_actions\`,
\`dns_record\`, \`quotas\`) makes no new version. A GET with \`If-None-Match\` answers 304 without a body if nothing has changed.

## Long work
Creating, deleting, restoring and the like answer at once and go on. Follow the operation: \`GET /operations/:id?wait=20\` answers as soon as it
ends, or after 20 seconds. Failures of the work are on the operation (\`error.code\`), and what it had done is undone:

${table(["Code", "Meaning"], ["---", "---"], ...OPERATION_ERRORS.map((code) => [`\`${code}\``, WORK_FAILED[code]]))}

## Lists
Newest first. \`page\` and \`per_page\` (at most 100) give any page, \`meta.total\` counts what the filter lets through; a page past the end is
empty. \`cursor\`, from \`meta.next_cursor\`, walks a list of any length at constant cost; it cannot be used together with \`page\`. Filters are
exact, one at a time. Lists may lag behind changes by a moment; a get never does.

## Limits
${REQUEST_LIMITS.all} requests in any ${WINDOW_SECONDS} seconds per token (per user in the dashboard), and of those ${REQUEST_LIMITS.create_delete}
that create or delete. What is refused does not count. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` (Unix seconds) tell of the limit nearest to
being hit: the one of the two of which the smallest share is left, whatever the request was. Sign-in: ${LOGIN_FAILURES.pair} failures in ${LOGIN_WINDOW_SECONDS / 60} minutes for an e-mail from one address,
${LOGIN_FAILURES.address} from one address. Bodies: ${BODY_BYTES_MAX / 1024} KiB.

## Idempotency
Send \`Idempotency-Key\` (1 to 255 printable ASCII characters) with a POST, and the same request may be sent again: its successful answer is
kept ${IDEMPOTENCY_HOURS} hours and given again with \`Idempotent-Replayed: true\`, and nothing is done twice. Sign-in and sign-out have none.

## Errors
${table(["Status", "Code", "When"], ["---", "---", "---"], ...errorCodes.map((code) => [String(ERRORS[code].status), `\`${code}\``, WHEN[code]]))}

What the cloud's gateway refuses before any code of the service sees it has the gateway's own words: bodies over 10 MB, headers over 10 KB,
broken percent-encoding.

## Versioning
\`/api/v1\` only grows: new endpoints, new optional fields of requests, new fields of answers, and new values where it says that they may appear.
Anything else will be \`/api/v2\`, with \`/api/v1\` kept for 12 months and marked by \`Deprecation\` and \`Sunset\` headers.
`.trim();
