// Rate limits: which one each route counts against.
import { beforeAll, expect, test } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import type { ApiResponse } from "../harness/client.ts";
import { bodyOf, closedRoutes, pathOf } from "../harness/requests.ts";
import { some } from "../harness/some.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

/** docs/api.md: each POST that responds 201 if it succeeds, and each DELETE. */
const CREATE_DELETE = [
  "POST /servers",
  "POST /instances",
  "POST /instances/:id/clone",
  "POST /instances/:id/backups",
  "POST /instances/:id/deploys",
  "POST /backups/uploads",
  "POST /backups/uploads/:id/complete",
  "DELETE /backups/uploads/:id",
  "POST /tokens",
  "POST /tokens/:id/rotate",
  "POST /ssh-keys",
  "POST /webhooks",
  "DELETE /webhooks/:id",
  "DELETE /servers/:id",
  "DELETE /instances/:id/backup-policy",
  "DELETE /instances/:id",
  "DELETE /backups/:id",
  "DELETE /tokens/:id",
  "DELETE /users/:id",
  "POST /users/invitations",
  "DELETE /users/invitations/:id",
  "DELETE /settings/sso",
  "DELETE /auth/sessions",
  "DELETE /auth/sessions/:id",
  "POST /auth/second-factors/totp/confirm",
  "POST /auth/second-factors/passkeys",
  "DELETE /auth/second-factors/:id",
  "DELETE /users/:id/second-factors",
  "DELETE /ssh-keys/:id",
];

const counted = (response: ApiResponse) =>
  ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => Number(response.headers[name]));

test.each(some(closedRoutes, 3))("$title counts against the limit that docs/api.md says, even when it fails", async (route) => {
  const { api } = await me.token(["settings:read"]);
  const before = Date.now() / 1000;
  const [limit, remaining, reset = 0] = counted(await api.send(route.method, pathOf(route), bodyOf(route)));
  expect(limit).toBe(CREATE_DELETE.includes(route.title) ? 20 : 100);
  expect(remaining).toBe((limit ?? 0) - 1);
  expect(reset).toBeGreaterThan(before + 60 - 1); // in whole seconds
  expect(reset).toBeLessThan(Date.now() / 1000 + 60 + 1);
});
