// Every type of event, with its class: the one table that GET /events, the dashboard and docs/events.md read. A new workflow
// brings its own three: the request, its success and its failure.
import { LIFECYCLE, OPERATION_TYPES, type OperationEnd, type OperationType } from "./lifecycle.ts";

/** `audit`: what people, tokens and schedules asked for. `outcomes`: what came of it, and what happened by itself. */
export const EVENT_CLASSES = ["audit", "outcomes"] as const;
export type EventClass = (typeof EVENT_CLASSES)[number];

/** What resources an event may be about. */
type About = "account" | "server" | "instance" | "backup" | "upload" | "ssh_key" | "token" | "user" | "webhook";

export interface EventType<C extends EventClass = EventClass> {
  class: C;
  about: About;
  /** What has happened, for the documentation. */
  text: string;
}

const audit = (about: About, text: string): EventType<"audit"> => ({ class: "audit", about, text });
const outcome = (about: About, text: string): EventType<"outcomes"> => ({ class: "outcomes", about, text });

const OTHERS = {
  "server.update": audit("server", "A server's name or labels were changed, or the operation `server.update` was started"),
  "server.offline": outcome("server", "A server no longer responds"),
  "server.online": outcome("server", "A server responds again"),
  "instance.logs_read": audit("instance", "The logs of an instance were read: once an hour for each user or API token"),
  "instance.overdue": audit("instance", "A backup that the policy of an instance has due is overdue"),
  "instance.down": outcome("instance", "The ERP of an instance does not respond, though it should run"),
  "instance.up": outcome("instance", "The ERP of an instance responds again"),
  "certificate.failing": outcome(
    "instance",
    "The certificate of an instance's domain cannot be issued or renewed, or has expired",
  ),
  "bulk.pause": audit("account", "A bulk action was paused"),
  "bulk.resume": audit("account", "A bulk action was resumed"),
  "bulk.cancel": audit("account", "A bulk action was cancelled"),
  "backup.update": audit("backup", "A backup's note, lock or labels were changed"),
  "backup.download": audit("backup", "A download of a backup was requested"),
  "backup.drill_failed": audit("backup", "A restore drill found that a backup cannot be restored"),
  "backup_policy.update": audit("instance", "The backup policy of an instance was set or changed"),
  "backup_policy.delete": audit("instance", "The backup policy of an instance was removed"),
  "backup_policy.run_skipped": audit("instance", "A scheduled backup was skipped"),
  "code.update": audit("instance", "The code of an instance was changed"),
  "code.rotate_hook": audit("instance", "The deploy hook of an instance was made anew or removed"),
  "code.push_dropped": outcome(
    "instance",
    "A push was not deployed: the instance was held for an hour, or its code could not be read",
  ),
  "upload.create": audit("upload", "The upload of a backup was started"),
  "upload.delete": audit("upload", "The upload of a backup was aborted"),
  "upload.expire": audit("upload", "The upload of a backup has expired"),
  "alert.opened": outcome("server", "An alert of a server or an instance has opened"),
  "alert.closed": outcome("server", "An alert of a server or an instance has closed"),
  "alert.update": audit("server", "An alert of a server or an instance was muted or unmuted"),
  "ssh_key.create": audit("ssh_key", "An SSH key was added"),
  "ssh_key.delete": audit("ssh_key", "An SSH key was deleted"),
  "token.create": audit("token", "An API token was created"),
  "token.rotated": audit("token", "An API token was replaced by a new one with the same permissions"),
  "token.delete": audit("token", "An API token was revoked"),
  "token.used_outside": outcome(
    "token",
    "An API token was used from outside its networks, and rejected: once an hour for each token",
  ),
  "token.expiring": outcome("token", "An API token expires soon"),
  "webhook.create": audit("webhook", "A webhook was created"),
  "webhook.update": audit("webhook", "A webhook was changed"),
  "webhook.delete": audit("webhook", "A webhook was deleted"),
  "webhook.rotate_secret": audit("webhook", "The secret of a webhook was rotated"),
  "webhook.redeliver": audit("webhook", "Deliveries of a webhook were requested again"),
  "webhook.test": audit("webhook", "A webhook was tested"),
  "webhook.disabled": outcome("webhook", "The service has disabled a webhook"),
  "auth.login": audit("user", "A user signed in"),
  "auth.logout": audit("user", "A user signed out"),
  "auth.password": audit("user", "A password was changed"),
  "auth.password_reset": audit("user", "A password was reset by a link from a mail"),
  "second_factor.added": audit("user", "A user added a second factor"),
  "second_factor.removed": audit("user", "A second factor of a user was removed"),
  "second_factor.recovery_codes": audit("user", "A user made new recovery codes"),
  "second_factor.suspicious": outcome("user", "A passkey's counter went back: somebody else may have a copy of it"),
  "sign_in.new_place": outcome("user", "A user signed in from an address where they had not been before"),
  "sso.update": audit("account", "The single sign-on of the account was set or changed"),
  "sso.delete": audit("account", "The single sign-on of the account was removed"),
  "sso.domain_verified": audit("account", "A domain was verified for single sign-on"),
  "sso.domain_unverified": outcome("account", "A domain has lost its TXT record, so its people cannot use single sign-on"),
  "settings.update": audit("account", "The settings of the account were changed"),
  "account.create": audit("account", "The account was created"),
  "account.quota": audit("account", "A quota of the account was changed"),
  "user.invited": audit("user", "Somebody was invited to the account"),
  "user.invitation_deleted": audit("user", "An invitation was withdrawn"),
  "user.joined": audit("user", "Somebody accepted an invitation, or first signed in with single sign-on"),
  "user.update": audit("user", "A user's name or mails were changed, or single sign-on was linked"),
  "user.role_changed": audit("user", "A user's role was changed"),
  "user.removed": audit("user", "A user was removed"),
  "user.create": audit("user", "The operator added a user"),
  "user.delete": audit("user", "The operator removed a user"),
} as const satisfies Record<string, EventType>;

type Named<C extends EventClass> = {
  [K in keyof typeof OTHERS]: (typeof OTHERS)[K]["class"] extends C ? K : never;
}[keyof typeof OTHERS];
export type AuditType = OperationType | Named<"audit">;
export type OutcomeType = `${OperationType}.${OperationEnd}` | Named<"outcomes">;

const ofOperations = Object.fromEntries(
  OPERATION_TYPES.flatMap((type) => {
    const about = LIFECYCLE[type].resource;
    return [
      [type, audit(about, `The operation \`${type}\` was started`)],
      [`${type}.succeeded`, outcome(about, `The operation \`${type}\` has succeeded`)],
      [`${type}.failed`, outcome(about, `The operation \`${type}\` has failed`)],
    ] as const;
  }),
);

/** Maps names to types of events. */
export const EVENT_TYPES: Readonly<Record<string, EventType>> = { ...ofOperations, ...OTHERS };
