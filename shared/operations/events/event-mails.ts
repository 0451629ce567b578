// Events that people are told by mail: a webhook that was disabled, a token that expires soon, and alerts.
import * as z from "zod";
import { permissionForEvent } from "../../api/event-permissions.ts";
import { hasRole, listPermissions } from "../../api/roles.ts";
import { startChange, tryCommit } from "../../data/change.ts";
import { requestMail } from "../../records/mails.ts";
import type { EventRecord } from "../../records/schemas/event.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { allUsers, readNotifications } from "../../records/users.ts";
import type { Message } from "../../mail/messages.ts";
import { addToDigest } from "./digests.ts";

const OPERATION_FAILED = /^[a-z_]+\.[a-z_]+\.failed$/;
const isAlert = (type: string): boolean => type === "alert.opened" || type === "alert.closed";

export const isMailed = (type: string): boolean =>
  isAlert(type) || OPERATION_FAILED.test(type) || type === "webhook.disabled" || type === "token.expiring";

/** Requests the mails that follow from events of an account; a second time without effect. */
export async function mailEvents(accountId: string, events: readonly EventRecord[]): Promise<void> {
  const users = await allUsers(accountId);
  for (const event of events) for (const user of users) await mailEvent(user, event);
}

async function mailEvent(user: UserRecord, event: EventRecord): Promise<void> {
  const { type, resource, data } = event;
  const name = resource.name ?? resource.id;
  if (type === "webhook.disabled") {
    if (!manages(user)) return;
    const reason = z
      .string()
      .catch("")
      .parse(data?.changes?.find(({ field }) => field === "disabled_reason")?.after);
    return requestOnce(user, event, { type: "webhook_disabled", webhook_id: resource.id, name, reason });
  }
  const wants = readNotifications(user).email;
  if (wants === "none" || !listPermissions(user).includes(permissionForEvent(type, resource.type))) return;
  if (type === "token.expiring") {
    const expires_at = data?.expiry?.expires_at ?? null;
    return requestOnce(user, event, { type: "token_expiring", name, expires_at });
  }
  if (isAlert(type) ? !isMuted(event) : wants === "all") await addToDigest(user, event);
}

const manages = ({ role }: UserRecord): boolean => hasRole(role, "admin");

const Mutable = z.object({ muted_until: z.string() });

const isMuted = ({ data, created_at }: EventRecord): boolean =>
  (Mutable.safeParse(data?.alert).data?.muted_until ?? "") > created_at;

async function requestOnce(user: UserRecord, { id, created_at }: EventRecord, message: Message): Promise<void> {
  const change = startChange({ id: user.account_id });
  await requestMail(change, { to: { user_id: user.id }, message, once: { of: `${id} ${user.id}`, at: created_at } });
  await tryCommit(change); // unless an earlier run has requested it
}
