// The dialogs of backups.
import type { backupDialogs as en, Part } from "../en/backup-dialogs.ts";
import { what } from "./backups.tsx";

const REPLACED: Record<Part, (instance: string) => string> = {
  all: (instance) => `Datenbank und Dateien von ${instance} werden`,
  database: (instance) => `Die Datenbank von ${instance} wird`,
  files: (instance) => `Die Dateien von ${instance} werden`,
};

const titled = (instance: string | null): string => (instance === null ? "Hochgeladene Sicherung" : `Sicherung von ${instance}`);

export const backupDialogs: typeof en = {
  details: {
    unknown: "Sicherung",
    title: (instance, at) => `${instance === null ? "Hochgeladene Sicherung" : `Sicherung von ${instance}`}, ${at}`,
    create: "Instanz anlegen",
    status: "Status",
    kind: "Art",
    note: "Notiz",
    locked: "Gesperrt",
    isLocked: "Ja: lässt sich nicht löschen und läuft nicht ab",
    notLocked: "Nein",
    started: "Begonnen",
    completed: "Abgeschlossen",
    notCompleted: "Nicht abgeschlossen",
    expires: "Läuft ab",
    never: "Nie",
    version: "Version",
    database: "Datenbank",
    size: "Größe",
    bytes: (size, bytes) => `${size} (${bytes} Byte)`,
    missing: "Fehlende Dateien",
    missingAbout: "In der Datenbank verzeichnet, aber in der Instanz nicht vorhanden.",
    skipped: "Ausgelassene Dateien",
    skippedAbout: "Verknüpfungen, Geräte, Sockets und Namen, die nicht UTF-8 sind.",
    noFiles: "Keine",
    sha256: "SHA-256-Prüfsumme",
    checksum: "Prüfsumme",
    labels: "Labels",
    id: "ID",
  },
  restore: {
    title: (instance) => `${instance} wiederherstellen`,
    submit: "Wiederherstellen",
    about({ part, instance, at, backupFirst }) {
      const changes = backupFirst ? "sind dann nur noch in der Vorab-Sicherung enthalten" : "gehen verloren";
      return (
        `${REPLACED[part](instance)} durch die Sicherung vom ${at} ersetzt. Während der Wiederherstellung ist ${instance} nicht erreichbar. ` +
        `Spätere Änderungen ${changes}. Schlägt die Wiederherstellung fehl, wird die Instanz auf den jetzigen Stand zurückgesetzt.`
      );
    },
    parts: "Umfang",
    part: { all: "Datenbank und Dateien", database: "Nur Datenbank", files: "Nur Dateien" },
    backupFirst: "Vorher den jetzigen Stand sichern",
    backupFirstAbout: "Mit dieser Vorab-Sicherung lässt sich die Wiederherstellung rückgängig machen.",
    neutralize: "Neutralisieren",
    neutralizeAbout: "Schaltet geplante Aktionen, E-Mail und Zahlungen ab. Im Produktivbetrieb ausgeschaltet lassen.",
    confirm: (instance) => `Zur Bestätigung ${instance} eingeben`,
    differs: (instance) => `stimmt nicht überein. ${instance} eingeben`,
  },
  backUp: {
    title: (instance) => `${instance} sichern`,
    anyTitle: "Instanz sichern",
    submit: "Jetzt sichern",
    note: "Notiz",
    noteAbout: "Zweck dieser Sicherung. Die Instanz läuft dabei weiter.",
    noteExample: "Vor dem Upgrade",
    instance: "Instanz",
    choose: "Instanz auswählen",
    instances: "Instanzen",
    none: "Noch keine Instanzen",
  },
  edit: {
    title: (instance, at) => `${titled(instance)} bearbeiten, ${at}`,
    save: "Änderungen speichern",
    saved: (instance, at) => `Sicherung geändert: ${instance ?? "hochgeladen"}, ${at}`,
    note: "Notiz",
    noteAbout: "Zweck dieser Sicherung.",
    locked: "Gesperrt",
    lockedAbout: "Eine gesperrte Sicherung lässt sich nicht löschen und läuft nicht ab.",
  },
  delete: {
    title: "Sicherung löschen",
    about: (instance, at) => `Die ${what(instance)} vom ${at} wird endgültig gelöscht. Das lässt sich nicht rückgängig machen.`,
  },
  drill: {
    title: "Wiederherstellungstest",
    run: "Test starten",
    none: "Noch nicht getestet. Ein Test stellt die Sicherung in einer Wegwerf-Datenbank wieder her und prüft sie.",
    passed: "Bestanden",
    failed: "Nicht bestanden",
    unchecked: "Nicht geprüft",
    runTitle: (instance, at) => `Wiederherstellungstest starten: ${what(instance)}, ${at}`,
    about:
      "Der Test stellt diese Sicherung ohne Netzwerk in einer Wegwerf-Datenbank auf dem Server wieder her und startet Odoo darauf ohne " +
      "geplante Aktionen. Er prüft die Daten und entfernt dann alles. Die Instanzen laufen weiter, und ihre Daten bleiben unberührt.",
    server: "Server",
    serverAbout: "Zu dieser Sicherung gibt es keine Instanz, daher ist ein Server auszuwählen.",
    chooseServer: "Aktiven Server auswählen",
    itsServer: "Der Server der Instanz",
  },
};
