// The words of every mail in English.
import {
  type Context,
  digestSubject,
  type Facts,
  isClosed,
  nameDevice,
  PATHS,
  type SignInPlace,
  placeFacts,
  type Words,
} from "./content.ts";
import type { DigestOutcome } from "./messages.ts";

export const EN: Words = {
  html: { lang: "en" },
  invitation: ({ token, account_name, invited_by }, { product }) => ({
    subject: `${invited_by} invited you to ${account_name}`,
    title: `Join ${account_name}`,
    lines: [`${invited_by} has invited you to ${account_name} on ${product}. Set a password to accept the invitation.`],
    link: { label: "Accept the invitation", path: PATHS.accept(token) },
    note: "The link is valid for 7 days and works once. If you do not know who invited you, ignore this email.",
  }),
  password_reset: ({ token }, { product }) => ({
    subject: "Reset your password",
    title: "Reset your password",
    lines: [`Somebody asked to reset the password of your user on ${product}.`],
    link: { label: "Set a new password", path: PATHS.reset(token) },
    note: "The link is valid for 30 minutes and works once. If it was not you, ignore this email: your password stays as it is.",
  }),
  new_place: (message, context) => ({
    subject: "New sign-in to your account",
    title: "You signed in from a new place",
    lines: [`Somebody signed in to ${context.product} as you, from a place that was not used before.`],
    facts: placeEn(message, context),
    link: { label: "Review your sessions", path: PATHS.account },
    note: "If it was not you, change your password now, which ends all other sessions, and review your second factors.",
  }),
  password_changed: (message, context) => ({
    subject: "Your password was changed",
    title: "Your password was changed",
    lines: [`The password of your user on ${context.product} was changed, and all other sessions have ended.`],
    facts: placeEn(message, context),
    link: { label: "Review your account", path: PATHS.account },
    note: "If it was not you, reset your password on the sign-in page, and tell an owner of your account.",
  }),
  second_factor_added: (message, context) => ({
    subject: "Second factor added",
    title: "A second factor was added",
    lines: [`A second factor (${message.factor}) was added to your user on ${context.product}.`],
    facts: placeEn(message, context),
    link: { label: "Review your account", path: PATHS.account },
    note: "If it was not you, change your password, remove the factor, and tell an owner of your account.",
  }),
  second_factor_removed: (message, context) => ({
    subject: "Second factor removed",
    title: "A second factor was removed",
    lines: [
      message.user_name === null
        ? `A second factor (${message.factor}) was removed from your user on ${context.product}.`
        : `You removed the second factors (${message.factor}) of ${message.user_name} on ${context.product}.`,
    ],
    facts: placeEn(message, context),
    link: { label: "Review your account", path: PATHS.account },
    note: "If neither you nor an owner of your account has done that, change your password, and tell an owner.",
  }),
  webhook_disabled: ({ webhook_id, name, reason }) => ({
    subject: `Webhook ${name} was disabled`,
    title: "A webhook was disabled",
    lines: [
      `The webhook ${name} gets no more events. ${
        {
          gone: "Its receiver responded with 410 Gone.",
          failing: "Its receiver has not accepted anything for five days.",
          credential: "The user or API token for which it acts was removed, was revoked or has expired.",
        }[reason] ?? ""
      }`.trim(),
      "Once its receiver works again, enable the webhook and redeliver what failed.",
    ],
    link: { label: "Open the webhook", path: PATHS.webhook(webhook_id) },
    note: "You get this email because you are an owner or an admin of the account.",
  }),
  alerts: ({ outcomes, more }, context) => ({
    subject: digestSubject(outcomes, more, { one: "1 alert", many: (count) => `${count} alerts` }, describeEn),
    title: "What happened",
    lines: more > 0 ? [`And ${more} more: the dashboard shows all of them.`] : [],
    facts: outcomes.map((outcome) => [context.time(outcome.at), describeEn(outcome)]),
    link: { label: "Open the dashboard", path: PATHS.activity },
    note: "You get at most one of these emails in ten minutes. Your settings in the dashboard say what you get.",
  }),
  token_expiring: ({ name, expires_at }, { time }) => ({
    subject: `API key ${name} expires soon`,
    title: "An API key expires soon",
    lines: [
      `The API key ${name} expires ${expires_at === null ? "soon" : `on ${time(expires_at)}`}. After that, requests with it fail.`,
    ],
    link: { label: "Review the API keys", path: PATHS.tokens },
    note: "Rotate the key in the dashboard, and change your programs to the new one: for a while, both work.",
  }),
};

function placeEn({ at, ip_address, user_agent }: SignInPlace, { time }: Context): Facts {
  return placeFacts({ Time: time(at), "IP address": ip_address, Browser: nameDevice(user_agent, "on") });
}

const KINDS_EN: Readonly<Record<string, string>> = {
  disk_free: "little free disk space",
  memory_free: "little free memory",
  disk_quota: "over its disk quota",
  disk_paused: "paused, because its server's disk is almost full",
  certificate: "certificate expires soon",
  error_rate: "many errors",
  down: "does not respond",
  cpu: "processor busy",
  backup_overdue: "backup overdue",
  drill_failed: "restore drill failed",
  operation_failed: "operation failed",
};

function describeEn(outcome: DigestOutcome): string {
  const { alert, resource, event_type, error } = outcome;
  if (alert === null) return `${resource.name}: ${event_type}${error === null ? "" : ` (${error})`}`;
  return `${resource.name}: ${isClosed(outcome) ? "over: " : ""}${KINDS_EN[alert.kind] ?? alert.kind}`;
}
