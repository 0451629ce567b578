// The words of every mail, in each language. Values are inserted as text that cannot become a link (`defuse`).
import type { DigestOutcome, Language, Message, MessageType } from "./messages.ts";

type Facts = (readonly [name: string, value: string])[];

/** What a mail says. Each line is a paragraph. */
export interface Content {
  subject: string;
  title: string;
  lines: string[];
  /** Names with their values. */
  facts?: Facts;
  /** What the one link says, and where it leads in the dashboard. */
  link: { label: string; path: string };
  /** What to do if the reader did not expect it, or why they get it. */
  note: string;
}

type Of<T extends MessageType> = Extract<Message, { type: T }>;
type Write<T extends MessageType> = (message: Of<T>, context: Context) => Content;

/** The product's name as the operator's brand has it, and how times are written. */
interface Context {
  product: string;
  time: (at: string) => string;
}

type Words = { [T in MessageType]: Write<T> } & { html: { lang: Language } };

/** In the fragment, which browsers send to no server and in no header. */
const withToken = (path: string, token: string): string => `${path}#token=${encodeURIComponent(token)}`;

const PATHS = {
  accept: (token: string) => withToken("/accept-invitation", token),
  reset: (token: string) => withToken("/reset-password", token),
  account: "/settings/account",
  webhook: (id: string) => `/settings/webhooks/${encodeURIComponent(id)}`,
  activity: "/activity",
  tokens: "/settings/api-keys",
};

type Place = Pick<Of<"new_place">, "at" | "ip_address" | "user_agent">;

const EN: Words = {
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
    lines: [`Somebody signed in to ${context.product} with your password from a place that was not used before.`],
    facts: placeEn(message, context),
    link: { label: "Review your sessions", path: PATHS.account },
    note: "If it was not you, change your password now: that ends all other sessions.",
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
    lines: [`A second factor (${message.factor}) was removed from your user on ${context.product}.`],
    facts: placeEn(message, context),
    link: { label: "Review your account", path: PATHS.account },
    note: "If it was not you, change your password, and tell an owner of your account.",
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
    note: "Create a new key, and replace the old one wherever it is used.",
  }),
};

const DE: Words = {
  html: { lang: "de" },
  invitation: ({ token, account_name, invited_by }, { product }) => ({
    subject: `${invited_by} hat Sie zu ${account_name} eingeladen`,
    title: `Einladung zu ${account_name}`,
    lines: [
      `${invited_by} hat Sie zu ${account_name} bei ${product} eingeladen. Legen Sie ein Passwort fest, um die Einladung anzunehmen.`,
    ],
    link: { label: "Einladung annehmen", path: PATHS.accept(token) },
    note: "Der Link gilt 7 Tage und nur einmal. Wenn Sie nicht wissen, wer Sie eingeladen hat, ignorieren Sie diese E-Mail.",
  }),
  password_reset: ({ token }, { product }) => ({
    subject: "Passwort zurücksetzen",
    title: "Passwort zurücksetzen",
    lines: [`Jemand möchte das Passwort Ihres Benutzers bei ${product} zurücksetzen.`],
    link: { label: "Neues Passwort festlegen", path: PATHS.reset(token) },
    note: "Der Link gilt 30 Minuten und nur einmal. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt unverändert.",
  }),
  new_place: (message, context) => ({
    subject: "Neue Anmeldung mit Ihrem Benutzer",
    title: "Anmeldung von einem neuen Ort",
    lines: [
      `Jemand hat sich bei ${context.product} mit Ihrem Passwort von einem Ort angemeldet, der bisher nicht verwendet wurde.`,
    ],
    facts: placeDe(message, context),
    link: { label: "Sitzungen prüfen", path: PATHS.account },
    note: "Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort: Damit enden alle anderen Sitzungen.",
  }),
  password_changed: (message, context) => ({
    subject: "Ihr Passwort wurde geändert",
    title: "Ihr Passwort wurde geändert",
    lines: [`Das Passwort Ihres Benutzers bei ${context.product} wurde geändert, und alle anderen Sitzungen wurden beendet.`],
    facts: placeDe(message, context),
    link: { label: "Konto prüfen", path: PATHS.account },
    note: "Wenn Sie das nicht waren, setzen Sie Ihr Passwort auf der Anmeldeseite zurück, und informieren Sie einen Inhaber Ihres Kontos.",
  }),
  second_factor_added: (message, context) => ({
    subject: "Zweiter Faktor hinzugefügt",
    title: "Ein zweiter Faktor wurde hinzugefügt",
    lines: [`Zu Ihrem Benutzer bei ${context.product} wurde ein zweiter Faktor hinzugefügt (${message.factor}).`],
    facts: placeDe(message, context),
    link: { label: "Konto prüfen", path: PATHS.account },
    note: "Wenn Sie das nicht waren, ändern Sie Ihr Passwort, entfernen Sie den Faktor, und informieren Sie einen Inhaber Ihres Kontos.",
  }),
  second_factor_removed: (message, context) => ({
    subject: "Zweiter Faktor entfernt",
    title: "Ein zweiter Faktor wurde entfernt",
    lines: [`Von Ihrem Benutzer bei ${context.product} wurde ein zweiter Faktor entfernt (${message.factor}).`],
    facts: placeDe(message, context),
    link: { label: "Konto prüfen", path: PATHS.account },
    note: "Wenn Sie das nicht waren, ändern Sie Ihr Passwort, und informieren Sie einen Inhaber Ihres Kontos.",
  }),
  webhook_disabled: ({ webhook_id, name, reason }) => ({
    subject: `Der Webhook ${name} wurde deaktiviert`,
    title: "Ein Webhook wurde deaktiviert",
    lines: [
      `Der Webhook ${name} bekommt keine Ereignisse mehr. ${
        {
          gone: "Sein Empfänger hat mit 410 Gone geantwortet.",
          failing: "Sein Empfänger hat fünf Tage lang nichts angenommen.",
          credential: "Der Benutzer oder der API-Schlüssel, für den er handelt, wurde entfernt, widerrufen oder ist abgelaufen.",
        }[reason] ?? ""
      }`.trim(),
      "Sobald der Empfänger wieder funktioniert, aktivieren Sie den Webhook, und stellen Sie zu, was fehlgeschlagen ist.",
    ],
    link: { label: "Webhook öffnen", path: PATHS.webhook(webhook_id) },
    note: "Sie bekommen diese E-Mail, weil Sie Inhaber oder Administrator des Kontos sind.",
  }),
  alerts: ({ outcomes, more }, context) => ({
    subject: digestSubject(outcomes, more, { one: "1 Warnung", many: (count) => `${count} Warnungen` }, describeDe),
    title: "Was passiert ist",
    lines: more > 0 ? [`Und ${more} weitere: Das Dashboard zeigt sie alle.`] : [],
    facts: outcomes.map((outcome) => [context.time(outcome.at), describeDe(outcome)]),
    link: { label: "Dashboard öffnen", path: PATHS.activity },
    note: "Sie bekommen höchstens eine dieser E-Mails in zehn Minuten. Was Sie bekommen, legen Ihre Einstellungen im Dashboard fest.",
  }),
  token_expiring: ({ name, expires_at }, { time }) => ({
    subject: `Der API-Schlüssel ${name} läuft bald ab`,
    title: "Ein API-Schlüssel läuft bald ab",
    lines: [
      `Der API-Schlüssel ${name} läuft ${expires_at === null ? "bald" : `am ${time(expires_at)}`} ab. Danach schlagen Anfragen mit ihm fehl.`,
    ],
    link: { label: "API-Schlüssel prüfen", path: PATHS.tokens },
    note: "Erstellen Sie einen neuen Schlüssel, und ersetzen Sie den alten überall, wo er verwendet wird.",
  }),
};

export const WORDS: Readonly<Record<Language, Words>> = { en: EN, de: DE };

function placeEn({ at, ip_address, user_agent }: Place, { time }: Context): Facts {
  return placeFacts({ Time: time(at), "IP address": ip_address, Browser: user_agent });
}

function placeDe({ at, ip_address, user_agent }: Place, { time }: Context): Facts {
  return placeFacts({ Zeit: time(at), "IP-Adresse": ip_address, Browser: user_agent });
}

const placeFacts = (facts: Readonly<Record<string, string | null>>): Facts =>
  Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== null);

/** A digest of one outcome says it in its subject. */
function digestSubject(
  outcomes: readonly DigestOutcome[],
  more: number,
  words: { one: string; many: (count: number) => string },
  describe: (outcome: DigestOutcome) => string,
): string {
  const [only, ...others] = outcomes;
  if (only !== undefined && others.length === 0 && more === 0) return describe(only);
  return words.many(outcomes.length + more);
}

const KINDS_EN: Readonly<Record<string, string>> = {
  disk_free: "little free disk space",
  memory_free: "little free memory",
  disk_quota: "over its disk quota",
  disk_paused: "paused, because its server's disk is almost full",
  certificate: "certificate failing",
  error_rate: "many errors",
  down: "does not respond",
  cpu: "processor busy",
  backup_overdue: "backup overdue",
  drill_failed: "restore drill failed",
  operation_failed: "operation failed",
};

const KINDS_DE: Readonly<Record<string, string>> = {
  disk_free: "wenig freier Speicherplatz",
  memory_free: "wenig freier Arbeitsspeicher",
  disk_quota: "über seinem Speicherkontingent",
  disk_paused: "angehalten, weil die Festplatte des Servers fast voll ist",
  certificate: "Zertifikat fehlerhaft",
  error_rate: "viele Fehler",
  down: "antwortet nicht",
  cpu: "Prozessor ausgelastet",
  backup_overdue: "Backup überfällig",
  drill_failed: "Wiederherstellungstest fehlgeschlagen",
  operation_failed: "Vorgang fehlgeschlagen",
};

const isClosed = ({ event_type }: DigestOutcome): boolean => event_type === "alert.closed";

function describeEn(outcome: DigestOutcome): string {
  const { alert, resource, event_type, error } = outcome;
  if (alert === null) return `${resource.name}: ${event_type}${error === null ? "" : ` (${error})`}`;
  return `${resource.name}: ${isClosed(outcome) ? "over: " : ""}${KINDS_EN[alert.kind] ?? alert.kind}`;
}

function describeDe(outcome: DigestOutcome): string {
  const { alert, resource, event_type, error } = outcome;
  if (alert === null) return `${resource.name}: ${event_type}${error === null ? "" : ` (${error})`}`;
  return `${resource.name}: ${isClosed(outcome) ? "beendet: " : ""}${KINDS_DE[alert.kind] ?? alert.kind}`;
}
