// API keys.
import type { tokens as en } from "../en/tokens.tsx";

export const tokens: typeof en = {
  title: "API-Schlüssel",
  about: "Damit rufen Skripte und Werkzeuge die API auf. Jeder Schlüssel kann nur, was seine Berechtigungen erlauben.",
  empty: "Noch keine API-Schlüssel. Aufrufe der API brauchen einen.",
  one: "API-Schlüssel",
  columns: {
    name: "Name",
    key: "Schlüssel",
    permissions: "Berechtigungen",
    used: "Zuletzt verwendet",
    expires: "Läuft ab",
    created: "Angelegt",
  },
  createdBy: (name) => `von ${name}`,
  usedFrom: (address) => `von ${address}`,
  neverUsed: "Noch nie",
  neverExpires: "Nie",
  expired: (time) => <>Abgelaufen {time}</>,
  create: {
    title: "API-Schlüssel anlegen",
    about: "Damit ruft ein Skript oder Werkzeug die API im Namen dieses Kontos auf.",
    name: "Name",
    nameAbout: "Das Skript oder Werkzeug, das diesen Schlüssel verwendet.",
    namePlaceholder: "Deployment-Pipeline",
    created: (name) => `API-Schlüssel ${name}`,
  },
  expiry: {
    title: "Läuft ab",
    about: "Abgelaufene Schlüssel funktionieren nicht mehr. Langlebige Schlüssel regelmäßig ersetzen.",
    choices: { "30": "In 30 Tagen", "90": "In 90 Tagen", "365": "In 1 Jahr", on: "An einem bestimmten Tag", never: "Nie" },
    untilRevoked: "Gültig bis zum Widerruf.",
    endOf: (day) => `Gültig bis einschließlich ${day}.`,
    lastDay: "Letzter Tag",
    lastDayHint: "JJJJ/MM/TT",
    noDate: "muss ein Datum sein, zum Beispiel 2027/01/31",
    past: "muss in der Zukunft liegen",
  },
  permissions: {
    title: "Berechtigungen",
    about: "Mit einer Vorlage von oben beginnen oder Berechtigungen einzeln wählen.",
    help: "Ein Schlüssel sollte nur können, was sein Programm braucht: Anfragen darüber hinaus schlagen mit FORBIDDEN fehl und nennen die fehlende Berechtigung. Die Berechtigungen eines Schlüssels lassen sich später nicht ändern, er lässt sich nur widerrufen.",
    preset: "Zugriff",
    individual: "Einzelne Berechtigungen",
    count: (number) => `${number} Berechtigung${number === 1 ? "" : "en"}`,
    close: "Schließen",
    names: {
      "servers:read": "Server ansehen",
      "servers:write": "Server anlegen, ändern, löschen",
      "instances:read": "Instanzen ansehen",
      "instances:write": "Instanzen anlegen, ändern, löschen",
      "instances:actions": "Instanzen starten, stoppen, neu starten",
      "backups:read": "Sicherungen ansehen",
      "backups:write": "Sicherungen anlegen, löschen",
      "backups:restore": "Sicherungen wiederherstellen",
      "settings:read": "Kontoeinstellungen ansehen",
      "settings:write": "Kontoeinstellungen ändern",
    },
    beyond: {
      "servers:read": "auch SSH-Schlüssel",
      "servers:write": "auch SSH-Schlüssel; kann kostenpflichtige Server anlegen",
      "instances:write": "Klonen braucht auch backups:restore",
      "backups:restore": "auch Herunterladen, also Einblick in alle Daten",
      "settings:read": "auch die Aktivität",
    },
  },
  presets: {
    read: { name: "Nur lesen", about: "Alles ansehen, nichts ändern." },
    automation: { name: "Automatisierung", about: "Alles außer den Kontoeinstellungen." },
    backups: { name: "Nur Sicherungen", about: "Sicherungen anlegen und löschen, nicht wiederherstellen oder herunterladen." },
    all: { name: "Alles", about: "Alle eigenen Rechte, nur API-Schlüssel nicht verwalten." },
  },
  revocation: {
    title: "API-Schlüssel widerrufen",
    confirm: "Widerrufen",
    revoked: (name) => `API-Schlüssel widerrufen: ${name}`,
    about: (name, key) => (
      <>
        <strong>{name}</strong> ({key}) gilt sofort nicht mehr. Das lässt sich nicht rückgängig machen.
      </>
    ),
  },
};
