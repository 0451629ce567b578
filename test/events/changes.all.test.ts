// What events say about secrets, hooks and links, and what forecasts say to whom.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { DryRun } from "../../shared/api/dry-run.ts";
import { ApiError, filesMissing, modulesNewer } from "../../shared/api/errors.ts";
import { Invitation } from "../../shared/api/invitations.ts";
import type { Permission } from "../../shared/api/permissions.ts";
import { recognizeProblem } from "../../shared/domain/problems.ts";
import { visibleTo } from "../../shared/runtime/visible.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { addPasskey, newAddress, newCodes } from "../harness/second-factors.ts";
import { unique } from "../harness/unique.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const Hook = z.object({ hook_url: z.string().nullable() });
const CALLER = { account_id: "acc_1", type: "token", id: "tok_1", ip_address: null } as const;

const Events = z.array(z.looseObject({ type: z.string(), data: z.unknown() }));
const changes = async (resourceId: string, api: Client = me.api) =>
  (await api.get(`/events?resource_id=${resourceId}&order=asc`)).as(Events).map(({ data }) => data);

describe("an event of a change says what changed", () => {
  test("of what is never shown, that it did", async () => {
    const ownAccount = await account();
    const [owner, user] = [await ownAccount.session(), await ownAccount.anotherUser()];
    const session = await ownAccount.session(user);
    const last = async (id: string) => (await changes(id, ownAccount.api)).at(-1);
    const new_password = "a new long password";
    await session.put("/auth/password", { current_password: user.password, new_password });
    expect(await last(user.id)).toEqual({ changes: [{ field: "password" }] });
    await addPasskey(session, "Laptop");
    expect(await last(user.id)).toEqual({ changes: [{ field: "passkey", before: null, after: "Laptop" }] });
    await newCodes(session);
    expect(await last(user.id)).toEqual({ changes: [{ field: "recovery_codes" }] });
    await owner.delete(`/users/${user.id}/second-factors`);
    expect(await last(user.id)).toEqual({ changes: [{ field: "passkey", before: "Laptop", after: null }] });
    await anonymous.post("/auth/password-reset", { email: user.email }, { from: newAddress() });
    const token = await newestLink(ownAccount.id, "password_reset", user.id);
    await anonymous.post("/auth/password-reset/confirm", { token, new_password: user.password }, { from: newAddress() });
    expect(await last(user.id)).toEqual({ changes: [{ field: "password" }] });

    const webhook = await ownAccount.webhook();
    await owner.post(`/webhooks/${webhook}/rotate-secret`, {});
    expect(await last(webhook)).toEqual({ changes: [{ field: "secret" }] });
  });

  test("of a deploy hook, by its last characters, whether it is new, another one, or none any more", async () => {
    const { id } = await seedInstance(me.id);
    const rotate = async (enabled: boolean) => {
      const { hook_url } = (await me.api.post(`/instances/${id}/code/rotate-hook`, { enabled })).as(Hook);
      return { last4: hook_url?.slice(-4) ?? null, event: (await changes(id)).at(-1) };
    };
    const first = await rotate(true);
    expect(first.event).toEqual({ changes: [{ field: "hook", before: null, after: first.last4 }] });
    const second = await rotate(true);
    expect(second.event).toEqual({ changes: [{ field: "hook", before: first.last4, after: second.last4 }] });
    expect((await rotate(false)).event).toEqual({ changes: [{ field: "hook", before: second.last4, after: null }] });
  });

  test("of an invitation that is sent again, until when it is valid, and who invites", async () => {
    const ownAccount = await account();
    const [first, second] = [await ownAccount.session(), await ownAccount.session(await ownAccount.anotherUser())];
    const body = { email: `${unique("invited")}@example.com`, role: "viewer" };
    const { id, ...sent } = (await first.post("/users/invitations", body)).as(Invitation);
    const again = (await second.post(`/users/invitations/${id}/resend`, {})).as(Invitation);
    expect((await changes(id, ownAccount.api)).at(-1)).toEqual({
      changes: [
        { field: "invited_by", before: sent.invited_by, after: again.invited_by },
        { field: "expires_at", before: sent.expires_at, after: again.expires_at },
      ],
    });
  });
});

describe("nothing that the credential may not read", () => {
  test("is in a forecast", async () => {
    const instance = await seedInstance(me.id);
    const backup = await seedBackup(instance);
    const { api: blind } = await me.token(["instances:write", "backups:write", "instances:actions"]);
    const Warnings = z.looseObject({ warnings: z.array(z.string()), disk_bytes: z.unknown() });
    const deletion = `/backups/${backup.id}?dry_run=true`;
    expect((await me.api.delete(deletion)).as(Warnings).warnings).toHaveLength(1);
    expect((await blind.delete(deletion)).as(Warnings).warnings).toEqual([]);
    const action = `/instances/${instance.id}/actions?dry_run=true`;
    expect((await me.api.post(action, { action: "backup" })).as(Warnings).disk_bytes).toBe(backup.size_bytes);
    expect((await blind.post(action, { action: "backup" })).as(Warnings).disk_bytes).toBeNull();
    const removal = (await blind.delete(`/instances/${instance.id}?dry_run=true`)).as(Warnings).warnings;
    expect(removal).toEqual(["What is in no completed backup cannot be recovered"]);
  });

  test("is in what an instance's modules or a backup's files say, which takes more than any permission for them", async () => {
    const readError = async (permissions: Permission[], error: ApiError) => {
      const visible = await visibleTo({ ...CALLER, permissions }, error);
      return z.instanceof(ApiError).parse(visible);
    };
    const newer = modulesNewer("running", ["acme"]);
    expect(await readError(["instances:read"], newer)).toMatchObject({ message: newer.message, details: { modules: ["acme"] } });
    const modules = await readError(["instances:write"], newer);
    expect([modules.details, recognizeProblem(modules.message)?.code]).toEqual([{}, "error_modules_higher"]);
    const lacking = filesMissing("completed", 31, 605);
    expect(await readError(["backups:read"], lacking)).toMatchObject({ details: { missing_files: 31 } });
    expect(recognizeProblem(lacking.message)?.code).toBe("error_files_missing");
    const files = await readError(["backups:restore"], lacking);
    expect([files.details, recognizeProblem(files.message)?.code]).toEqual([{}, "error_some_files_missing"]);
  });

  test("is in the forecast of a clone: how many files its backup lacks", async () => {
    const instance = await seedInstance(me.id);
    const backup = await seedBackup(instance, { missing_files: 2, listed_files: 605 });
    const { api: blind } = await me.token(["instances:write", "backups:restore", "instances:read"]);
    const codes = async (api: Client) => {
      const body = { name: "Copy", domain: uniqueDomain(), backup_id: backup.id };
      const { warning_reasons } = (await api.post(`/instances/${instance.id}/clone?dry_run=true`, body)).as(DryRun);
      return warning_reasons.map(({ code }) => code);
    };
    expect(await codes(me.api)).toContain("files_missing");
    expect(await codes(blind)).not.toContain("files_missing");
  });
});
