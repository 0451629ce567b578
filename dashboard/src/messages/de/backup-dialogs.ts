// The dialogs of backups.
import type { backupDialogs as en } from "../en/backup-dialogs.ts";
import type { Named } from "../en/backups.tsx";
import { describeBackup } from "./backups.tsx";

const titled = ({ instance_name, file_name }: Named): string =>
  instance_name === null
    ? `Hochgeladene Sicherung${file_name === null ? "" : ` ${file_name}`}`
    : `Sicherung von ${instance_name}`;

export const backupDialogs: typeof en = {
  details: {
    unknown: "Sicherung",
    title: (backup, at) => `${backup.file_name ?? titled(backup)}, ${at}`,
    create: "Instanz anlegen",
    toNew: "In neuer Instanz wiederherstellen",
    status: "Status",
    kind: "Art",
    note: "Notiz",
    locked: "Gesperrt",
    isLocked: "Ja: lässt sich nicht löschen und läuft nicht ab",
    notLocked: "Nein",
    started: "Gestartet",
    completed: "Abgeschlossen",
    notCompleted: "Nicht abgeschlossen",
    expires: "Läuft ab",
    never: "Nie",
    version: "Version",
    database: "Datenbank",
    size: "Größe",
    bytes: (size, bytes) => `${size} (${bytes} Byte)`,
    missing: "Fehlende Dateien",
    missingAbout: "Stehen in der Datenbank, waren in der Instanz aber nicht vorhanden.",
    skipped: "Ausgelassene Dateien",
    skippedAbout: "Verknüpfungen, Gerätedateien, Sockets und Dateien, deren Namen nicht in UTF-8 oder zu lang sind.",
    fileName: "Datei",
    leftOut: "Aus dem Dump nicht geladen",
    missingModules: "Module, die im Image des ERP fehlen",
    noFiles: "Keine",
    sha256: "SHA-256-Prüfsumme",
    checksum: "Prüfsumme",
    labels: "Labels",
    id: "ID",
  },
  importAgain: {
    open: "Erneut versuchen",
    title: (backup, at) => `Import erneut versuchen: ${describeBackup(backup)}, ${at}`,
    about: (until) => `Das Archiv ist noch bis ${until} gespeichert. Es muss nicht noch einmal hochgeladen werden.`,
    submit: "Erneut versuchen",
  },
  restore: {
    title: (instance) => `${instance} wiederherstellen`,
    submit: "Wiederherstellen",
    toNew: "Stattdessen in neuer Instanz wiederherstellen",
    backup: "Sicherung",
    backups: "Sicherungen",
    none: "Noch keine abgeschlossene Sicherung dieser Instanz.",
    gone: "Die hier gewählte Sicherung gibt es nicht mehr. Wählen Sie eine andere.",
    about({ part, at, backupFirst }) {
      const replaced = part === "files" ? "Die ersetzten Dateien" : "Seitdem vorgenommene Änderungen";
      const preRestore = backupFirst ? ` ${replaced} sind dann nur noch in der Vorab-Sicherung enthalten.` : "";
      return `Die Sicherung ist vom ${at}.${preRestore} Schlägt die Wiederherstellung fehl, wird die Instanz auf ihren jetzigen Stand zurückgesetzt.`;
    },
    parts: "Was wiederhergestellt wird",
    part: { all: "Datenbank und Dateien", database: "Nur Datenbank", files: "Nur Dateien" },
    backupFirst: "Zuerst den jetzigen Stand sichern",
    backupFirstAbout: "Damit können Sie diese Wiederherstellung rückgängig machen.",
    neutralize: "Neutralisieren",
    neutralizeAbout: "Schaltet geplante Aktionen, E-Mails und Zahlungen ab. Lassen Sie dies im Produktivbetrieb aus.",
    confirm: (instance) => `Geben Sie zur Bestätigung ${instance} ein`,
    differs: (instance) => `Der Name stimmt nicht überein. Geben Sie ${instance} ein`,
  },
  backUp: {
    title: (instance) => `${instance} sichern`,
    anyTitle: "Instanz sichern",
    submit: "Jetzt sichern",
    note: "Notiz",
    noteAbout: "Wofür diese Sicherung ist. Die Instanz läuft weiter.",
    noteExample: "Vor dem Upgrade",
    instance: "Instanz",
    choose: "Instanz auswählen",
    instances: "Instanzen",
    none: "Noch keine Instanzen",
  },
  edit: {
    title: (backup, at) => `${titled(backup)} bearbeiten, ${at}`,
    save: "Speichern",
    saved: ({ instance_name, file_name }, at) => `Sicherung geändert: ${instance_name ?? file_name ?? "hochgeladen"}, ${at}`,
    note: "Notiz",
    noteAbout: "Wofür diese Sicherung ist.",
    locked: "Gesperrt",
    lockedAbout: "Eine gesperrte Sicherung lässt sich nicht löschen und läuft nicht ab.",
  },
  delete: {
    title: "Sicherung löschen",
    titleOf: (backup, at) => `${titled(backup)} löschen, ${at}`,
    about: "Das können Sie nicht rückgängig machen.",
  },
  drill: {
    title: "Wiederherstellungstest",
    run: "Test starten",
    none: "Noch kein Wiederherstellungstest. Ein Test stellt die Sicherung in einer temporären Datenbank wieder her und prüft diese.",
    passed: "Bestanden",
    failed: "Nicht bestanden",
    unchecked: "Nicht geprüft",
    runTitle: (backup, at) => `Wiederherstellungstest starten: ${describeBackup(backup)}, ${at}`,
    runTitleOfNewest: (instance) => `Wiederherstellungstest starten: neueste Sicherung von ${instance}`,
    about:
      "Der Test stellt diese Sicherung in einer temporären Datenbank ohne Netzwerk wieder her " +
      "und startet darauf Odoo ohne geplante Aktionen. Er prüft die Daten und entfernt danach alles. Die Instanzen laufen weiter, ihre Daten bleiben unberührt.",
    server: "Server",
    serverAbout: "Zu dieser Sicherung gehört keine Instanz. Wählen Sie daher einen Server aus.",
    chooseServer: "Aktiven Server auswählen",
    itsServer: "Der Server der Instanz",
  },
};
