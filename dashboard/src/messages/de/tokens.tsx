// API keys.
import type { tokens as en } from "../en/tokens.tsx";

export const tokens: typeof en = {
  title: "API-Schlüssel",
  about: "Mit API-Schlüsseln rufen Skripte und Tools die API auf. Jeder Schlüssel kann nur, was seine Berechtigungen erlauben.",
  empty: "Noch keine API-Schlüssel. Legen Sie einen an, um die API aufzurufen.",
  one: "API-Schlüssel",
  columns: {
    name: "Name",
    key: "Schlüssel",
    permissions: "Berechtigungen",
    used: "Zuletzt verwendet",
    expires: "Läuft ab",
    created: "Angelegt",
  },
  actionsOf: (name) => `Aktionen: ${name}`,
  filters: {
    placeholder: "Name, Ersteller, Adresse",
    labels: {
      permission: "Nach Berechtigung filtern",
      older: "Nach letzter Verwendung filtern",
      expires: "Nach Ablauf filtern",
    },
    any: { permission: "Jede Berechtigung", older: "Jede Verwendung", expires: "Jeder Ablauf" },
    unused: { "30": "Seit 30 Tagen nicht verwendet", "90": "Seit 90 Tagen nicht verwendet", never: "Noch nie verwendet" },
    ends: { never: "Läuft nie ab", soon: "Läuft binnen 30 Tagen ab", expired: "Abgelaufen" },
  },
  createdBy: (name) => `von ${name}`,
  usedFrom: (address) => `von ${address} aus`,
  onlyFrom: (networks) => `nur von ${networks.join(", ")}`,
  neverUsed: "Noch nie",
  neverExpires: "Nie",
  expired: (time) => <>Abgelaufen {time}</>,
  create: {
    title: "API-Schlüssel anlegen",
    about: "Damit kann ein Skript oder Tool die API im Namen dieses Kontos aufrufen.",
    name: "Name",
    nameAbout: "Das Skript oder Tool, das diesen Schlüssel verwendet.",
    namePlaceholder: "Deployment-Pipeline",
    networks: "Netze",
    networksAbout: "Von wo der Schlüssel funktioniert. Von überall sonst wird er abgelehnt. Leer lassen für überall.",
    networksHint: "Bis zu 10, mit Kommas getrennt, zum Beispiel 192.0.2.7, 198.51.100.0/24, 2001:db8::/64.",
    created: (name) => `API-Schlüssel ${name}`,
  },
  expiry: {
    title: "Läuft ab",
    about: "Abgelaufene Schlüssel funktionieren nicht mehr. Ersetzen Sie langlebige Schlüssel regelmäßig.",
    choices: { "30": "In 30 Tagen", "90": "In 90 Tagen", "365": "In 1 Jahr", on: "An einem bestimmten Tag", never: "Nie" },
    longest: (days) => `In ${days} Tagen, der längsten Zeit in diesem Konto`,
    untilRevoked: "Gültig, bis Sie ihn widerrufen.",
    endOf: (day) => `Gültig bis einschließlich ${day}.`,
    lastDay: "Letzter Tag",
    lastDayHint: "JJJJ-MM-TT",
    noDate: "Geben Sie ein Datum ein, zum Beispiel 2027-01-31",
    past: "Das Datum muss in der Zukunft liegen",
  },
  permissions: {
    title: "Berechtigungen",
    about: "Beginnen Sie mit einer Vorlage von oben oder wählen Sie einzelne Berechtigungen.",
    help: "Geben Sie einem Schlüssel nur die Berechtigungen, die sein Programm braucht. Andere Anfragen schlagen mit FORBIDDEN fehl, und der Fehler nennt die fehlende Berechtigung. Die Berechtigungen eines Schlüssels können Sie später nicht ändern; Sie können ihn nur widerrufen.",
    preset: "Zugriffsstufe",
    individual: "Einzelne Berechtigungen",
    count: (number) => `${number} Berechtigung${number === 1 ? "" : "en"}`,
    beyond: {
      "servers:read": "auch SSH-Schlüssel",
      "servers:write": "auch SSH-Schlüssel; kann kostenpflichtige Server anlegen",
      "instances:write": "Klonen braucht auch backups:restore",
      "backups:restore": "auch Herunterladen; damit sind alle Daten einsehbar",
      "settings:read": "auch das Aktivitätsprotokoll",
    },
  },
  presets: {
    read: { name: "Nur lesen", about: "Alles ansehen, nichts ändern." },
    automation: { name: "Automatisierung", about: "Alles außer den Kontoeinstellungen." },
    backups: { name: "Nur Sicherungen", about: "Sicherungen anlegen und löschen, nicht wiederherstellen oder herunterladen." },
    all: { name: "Alles", about: "Alles, was Sie selbst dürfen, außer API-Schlüssel zu verwalten." },
  },
  replaced: "ersetzt",
  rotation: {
    title: (name) => `API-Schlüssel ${name} ersetzen`,
    confirm: "Ersetzen",
    about: (name, key) => (
      <>
        Legt einen neuen Schlüssel mit dem Namen und den Berechtigungen von <strong>{name}</strong> ({key}) an. Webhooks, die für
        ihn handeln, handeln dann für den neuen.
      </>
    ),
    overlap: "Der alte Schlüssel gilt",
    overlapAbout: "Stellen Sie Ihr Programm in dieser Zeit auf den neuen Schlüssel um.",
    overlaps: (hours) =>
      hours === 0 ? "Nicht länger" : hours === 1 ? "Noch 1 Stunde" : hours === 24 ? "Noch 24 Stunden" : `Noch ${hours / 24} Tage`,
  },
  revocation: {
    title: (name) => `API-Schlüssel ${name} widerrufen`,
    confirm: "Widerrufen",
    revoked: (name) => `API-Schlüssel widerrufen: ${name}`,
    about: (name, key) => (
      <>
        <strong>{name}</strong> ({key}) funktioniert ab sofort nicht mehr. Das können Sie nicht rückgängig machen.
      </>
    ),
  },
};
