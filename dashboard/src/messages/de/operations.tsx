// Operations: their kinds, their progress and their results.
import { isLeftOutKind, type LeftOutKind } from "../../../../shared/domain/left-out.ts";
import type { operations as en } from "../en/operations.tsx";
import { steps } from "./steps.ts";

const counted = (number: number, one: string, many: string): string =>
  `${number === 0 ? "keine" : number} ${number === 1 ? one : many}`;

const LEFT_OUT: Readonly<Record<LeftOutKind, string>> = {
  privileges: "Zugriffsrechte",
  owners: "Eigentümer",
  roles: "Rollen",
  tablespaces: "Tablespaces",
  databases: "die Datenbank selbst",
  security_labels: "Sicherheitskennzeichen",
  extensions: "Erweiterungen",
  extension_data: "Daten von Erweiterungen",
  event_triggers: "Ereignistrigger",
  publications: "Publikationen",
  subscriptions: "Abonnements",
  foreign_data: "Fremddaten",
  access_methods: "Zugriffsmethoden",
  languages: "Sprachen",
  policies: "Zeilensicherheit",
  statistics: "Statistiken",
  settings: "Einstellungen",
  drops: "Löschungen",
};
const leftOutKind = (kind: string, count: number): string => `${isLeftOutKind(kind) ? LEFT_OUT[kind] : kind} (${count})`;

export const operations: typeof en = {
  steps,
  work: {
    "server.create": {
      name: "Server anlegen",
      running: "Server wird angelegt",
      succeeded: "Server angelegt",
      failed: "Server konnte nicht angelegt werden",
      event: "Anlegen des Servers begonnen",
    },
    "server.delete": {
      name: "Server löschen",
      running: "Server wird gelöscht",
      succeeded: "Server gelöscht",
      failed: "Server konnte nicht gelöscht werden",
      event: "Löschen des Servers begonnen",
    },
    "instance.create": {
      name: "Instanz anlegen",
      running: "Instanz wird angelegt",
      succeeded: "Instanz angelegt",
      failed: "Instanz konnte nicht angelegt werden",
      event: "Anlegen der Instanz begonnen",
    },
    "instance.update": {
      name: "Domain ändern",
      running: "Domain wird geändert",
      succeeded: "Domain geändert",
      failed: "Domain konnte nicht geändert werden",
      event: "Änderung der Instanz angefordert",
    },
    "instance.clone": {
      name: "Instanz aus Sicherung anlegen",
      running: "Instanz wird aus Sicherung angelegt",
      succeeded: "Instanz aus Sicherung angelegt",
      failed: "Instanz konnte nicht aus Sicherung angelegt werden",
      event: "Anlegen der Instanz aus einer Sicherung begonnen",
    },
    "instance.start": {
      name: "Starten",
      running: "Instanz wird gestartet",
      succeeded: "Instanz gestartet",
      failed: "Instanz konnte nicht gestartet werden",
      event: "Starten der Instanz begonnen",
    },
    "instance.stop": {
      name: "Stoppen",
      running: "Instanz wird gestoppt",
      succeeded: "Instanz gestoppt",
      failed: "Instanz konnte nicht gestoppt werden",
      event: "Stoppen der Instanz begonnen",
    },
    "instance.restart": {
      name: "Neu starten",
      running: "Instanz wird neu gestartet",
      succeeded: "Instanz neu gestartet",
      failed: "Instanz konnte nicht neu gestartet werden",
      event: "Neustart der Instanz begonnen",
    },
    "instance.delete": {
      name: "Instanz löschen",
      running: "Instanz wird gelöscht",
      succeeded: "Instanz gelöscht",
      failed: "Instanz konnte nicht gelöscht werden",
      event: "Löschen der Instanz begonnen",
    },
    "backup.create": {
      name: "Sicherung",
      running: "Sicherung läuft",
      succeeded: "Sicherung abgeschlossen",
      failed: "Sicherung fehlgeschlagen",
      event: "Sicherung begonnen",
    },
    "backup.delete": {
      name: "Sicherung löschen",
      running: "Sicherung wird gelöscht",
      succeeded: "Sicherung gelöscht",
      failed: "Sicherung konnte nicht gelöscht werden",
      event: "Löschen der Sicherung begonnen",
    },
    "backup.restore": {
      name: "Wiederherstellung",
      running: "Sicherung wird wiederhergestellt",
      succeeded: "Sicherung wiederhergestellt",
      failed: "Sicherung konnte nicht wiederhergestellt werden",
      event: "Wiederherstellung begonnen",
    },
    "backup.import": {
      name: "Import",
      running: "Archiv wird importiert",
      succeeded: "Archiv importiert",
      failed: "Archiv konnte nicht importiert werden",
      event: "Import des Archivs begonnen",
    },
    "backup.drill": {
      name: "Wiederherstellungstest",
      running: "Wiederherstellungstest läuft",
      succeeded: "Wiederherstellungstest abgeschlossen",
      failed: "Wiederherstellungstest konnte nicht ausgeführt werden",
      event: "Wiederherstellungstest begonnen",
    },
    "instance.check_code": {
      name: "Codeprüfung",
      running: "Code wird geprüft",
      succeeded: "Code geprüft",
      failed: "Code konnte nicht geprüft werden",
      event: "Codeprüfung begonnen",
    },
    "instance.deploy": {
      name: "Deployment",
      running: "Deployment läuft",
      succeeded: "Deployment abgeschlossen",
      failed: "Deployment fehlgeschlagen",
      event: "Deployment begonnen",
    },
    "bulk.run": {
      name: "Sammelaktion",
      running: "Sammelaktion läuft",
      succeeded: "Sammelaktion beendet",
      failed: "Sammelaktion nicht zu Ende geführt",
      event: "Sammelaktion begonnen",
    },
  },
  unknownWork: (type) => ({
    name: type,
    running: type,
    succeeded: `${type}: erfolgreich`,
    failed: `${type}: fehlgeschlagen`,
    event: type,
  }),
  service: {
    "Health checks": "Zustandsprüfung",
    "Health check": "Zustandsprüfung",
    "Backup policy": "Sicherungsplan",
    "Deploy hook": "Deploy-Hook",
    "Expiry of backups": "Ablauf von Sicherungen",
    "Expiry of uploads": "Ablauf von Uploads",
    operator: "Betreiber",
  },
  bulk: { done: (number, all) => `${number} von ${all} erledigt`, results: "Ergebnisse anzeigen" },
  title: "Vorgänge",
  empty: "Noch keine Vorgänge.",
  one: "Vorgang",
  columns: {
    operation: "Vorgang",
    status: "Status",
    on: "Betrifft",
    result: "Ergebnis",
    duration: "Dauer",
    by: "Gestartet von",
    at: "Gestartet",
  },
  retry: "Wiederholen",
  retryOf: (work, name) => `Wiederholen: ${work}, ${name}`,
  log: {
    title: "Protokoll",
    about: "Was während der Arbeit auf dem Server ausgegeben wurde.",
    last: (lines) => `Die letzten ${lines} Zeilen des Protokolls`,
    whole: "Alles zeigen",
    download: "Herunterladen",
    none: "Es wurde nichts protokolliert, oder es ist mehr als 90 Tage her.",
    nothingYet: "Es wurde noch nichts protokolliert.",
    open: "Protokoll zeigen",
  },
  running: "Läuft",
  queued: "In der Warteschlange",
  progressUnknown: "Der Fortschritt lässt sich gerade nicht abrufen. Neuer Versuch…",
  hostSkipped:
    "Der Server war nicht aktiv, daher wurde nur der Eintrag entfernt. Das ERP und seine Daten werden entfernt, sobald der Server wieder antwortet.",
  finished: (time) => <>Beendet {time}</>,
  backup: (at) => `Sicherung vom ${at}`,
  drillFailed: "Wiederherstellungstest nicht bestanden",
  drill: (status) => <>Test: {status}</>,
  preRestoreBackup: (at) => `Vorab-Sicherung vom ${at}`,
  skipped: (paths) => `Ausgelassen: ${paths}`,
  missingModules: (modules) => `Installierte Module, die im Image des ERP fehlen oder dort älter sind: ${modules}`,
  unfinished: (modules) =>
    `Halb installierte Apps, die im ERP zu aktualisieren, zu installieren oder abzubrechen sind: ${modules}`,
  missingFiles: (number) =>
    number === 1
      ? "1 Datei, die in der Datenbank steht, fehlt im Archiv."
      : `${number} Dateien, die in der Datenbank stehen, fehlen im Archiv.`,
  leftOutKind,
  leftOut: (kind, count, names) => `Nicht geladen, ${leftOutKind(kind, count)}: ${names}`,
  downtime: (seconds) =>
    `Odoo war ${seconds < 1 ? "weniger als eine Sekunde" : counted(Math.round(seconds), "Sekunde", "Sekunden")} lang gestoppt.`,
  verification: {
    neutralized: "Neutralisiert",
    notNeutralized: "Nicht neutralisiert",
    crons: (number) =>
      number === 0 ? "keine aktive geplante Aktion" : counted(number, "aktive geplante Aktion", "aktive geplante Aktionen"),
    mailServers: (number) =>
      number === 0 ? "kein aktiver Mailserver" : counted(number, "aktiver Mailserver", "aktive Mailserver"),
    newUuid: "neue Datenbank-UUID",
    sameUuid: "gleiche Datenbank-UUID wie das Original",
    address: (url) => `Adresse ${url}`,
  },
};
