// The words of every mail in German.
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

export const DE: Words = {
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
    lines: [`Jemand hat sich bei ${context.product} als Sie angemeldet, von einem Ort, der bisher nicht verwendet wurde.`],
    facts: placeDe(message, context),
    link: { label: "Sitzungen prüfen", path: PATHS.account },
    note: "Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort, womit alle anderen Sitzungen enden, und prüfen Sie Ihre zweiten Faktoren.",
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
    lines: [`Zu Ihrem Benutzer bei ${context.product} wurde ein zweiter Faktor hinzugefügt (${factorsDe(message)}).`],
    facts: placeDe(message, context),
    link: { label: "Konto prüfen", path: PATHS.account },
    note: "Wenn Sie das nicht waren, ändern Sie Ihr Passwort, entfernen Sie den Faktor, und informieren Sie einen Inhaber Ihres Kontos.",
  }),
  second_factor_removed: (message, context) => ({
    subject: "Zweiter Faktor entfernt",
    title: "Ein zweiter Faktor wurde entfernt",
    lines: [
      message.user_name === null
        ? `Von Ihrem Benutzer bei ${context.product} wurde ein zweiter Faktor entfernt (${factorsDe(message)}).`
        : `Sie haben die zweiten Faktoren (${factorsDe(message)}) von ${message.user_name} bei ${context.product} entfernt.`,
    ],
    facts: placeDe(message, context),
    link: { label: "Konto prüfen", path: PATHS.account },
    note: "Wenn das weder Sie noch ein Inhaber Ihres Kontos war, ändern Sie Ihr Passwort, und informieren Sie einen Inhaber.",
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
    note: "Ersetzen Sie den Schlüssel im Dashboard, und stellen Sie Ihre Programme auf den neuen um: Eine Zeit lang funktionieren beide.",
  }),
};

/** The names that people gave their passkeys, and that of the one app. */
const factorsDe = ({ factor }: { factor: string }): string => factor.replace("Authenticator app", "Authenticator-App");

function placeDe({ at, ip_address, user_agent }: SignInPlace, { time }: Context): Facts {
  return placeFacts({ Zeit: time(at), "IP-Adresse": ip_address, Browser: nameDevice(user_agent, "auf") });
}

const KINDS_DE: Readonly<Record<string, string>> = {
  disk_free: "wenig freier Speicherplatz",
  memory_free: "wenig freier Arbeitsspeicher",
  disk_quota: "über seinem Speicherkontingent",
  disk_paused: "angehalten, weil die Festplatte des Servers fast voll ist",
  certificate: "Zertifikat läuft bald ab",
  error_rate: "viele Fehler",
  down: "antwortet nicht",
  cpu: "Prozessor ausgelastet",
  backup_overdue: "Sicherung überfällig",
  drill_failed: "Wiederherstellungstest fehlgeschlagen",
  operation_failed: "Vorgang fehlgeschlagen",
};

function describeDe(outcome: DigestOutcome): string {
  const { alert, resource, event_type, error } = outcome;
  if (alert === null) return `${resource.name}: ${event_type}${error === null ? "" : ` (${error})`}`;
  return `${resource.name}: ${isClosed(outcome) ? "beendet: " : ""}${KINDS_DE[alert.kind] ?? alert.kind}`;
}
