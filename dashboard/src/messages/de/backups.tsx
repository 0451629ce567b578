// Backups: their list, and those of an instance day by day. Their dialogs: backup-dialogs.ts.
import type { backups as en, Named } from "../en/backups.tsx";

export const what = ({ instance_name, file_name }: Named): string =>
  instance_name === null ? (file_name ?? "hochgeladene Sicherung") : `Sicherung von ${instance_name}`;

export const backups: typeof en = {
  title: "Sicherungen",
  about: "Kopien Ihrer Instanzen zu einem bestimmten Zeitpunkt. Sie bleiben auch erhalten, wenn die Instanz gelöscht wird.",
  none: "Noch keine Sicherungen. Sichern Sie eine Instanz, bevor Sie sie ändern.",
  backUpNow: "Jetzt sichern",
  upload: "Sicherung hochladen",
  noInstance: "Legen Sie zuerst eine Instanz an.",
  columns: {
    created: "Erstellt",
    instance: "Instanz",
    status: "Status",
    kind: "Art",
    drill: "Test",
    size: "Größe",
    note: "Notiz",
    labels: "Labels",
    id: "ID",
    actions: "Aktionen",
  },
  deleted: "(gelöscht)",
  locked: "gesperrt",
  lockedKind: (kind) => `${kind} (gesperrt)`,
  expires: (at) => <>läuft {at} ab</>,
  kinds: {
    manual: "Manuell",
    pre_restore: "Vorab-Sicherung",
    pre_deploy: "Vor Deployment",
    scheduled: "Geplant",
    uploaded: "Hochgeladen",
  },
  filters: {
    labels: {
      kind: "Nach Art filtern",
      drill: "Nach Wiederherstellungstest filtern",
      locked: "Nach Sperre filtern",
      larger: "Nach Größe filtern",
    },
    any: { kind: "Jede Art", drill: "Jeder Test", locked: "Gesperrt oder nicht", larger: "Jede Größe" },
    drills: { passed: "Test bestanden", failed: "Test nicht bestanden" },
    locks: { true: "Gesperrt", false: "Nicht gesperrt" },
    larger: (size) => `Größer als ${size}`,
  },
  drilled: { passed: "Wiederherstellungstest bestanden", failed: "Wiederherstellungstest nicht bestanden" },
  checks: {
    checksum: "Archiv unverändert",
    restores: "Datenbank wiederherstellbar",
    boots: "Odoo startet",
    rows: "Zeilenzahlen stimmen überein",
    files: "Anhänge vollständig",
  },
  menu: {
    label: (backup, at) => `Aktionen: ${what(backup)}, ${at}`,
    restore: "Wiederherstellen",
    drill: "Wiederherstellungstest starten",
    create: "Instanz anlegen",
    clone: "In neuer Instanz wiederherstellen",
    download: "Herunterladen",
    downloadCall: "API-Aufruf zum Herunterladen anzeigen",
    downloadTitle: "Sicherung herunterladen",
    edit: "Details bearbeiten",
    delete: "Löschen",
  },
  download: {
    failed: (error) => `Die Sicherung konnte nicht heruntergeladen werden: ${error}`,
    withRequestId: (error, id) => `${error} Anfrage-ID: ${id}`,
  },
  sizes: "Größe im Lauf der Zeit",
  strip: {
    title: "Sicherungen der letzten 35 Tage",
    none: (date) => `${date}: keine Sicherung`,
    day: (date, count, backup) => (count === 1 ? `${date}: ${backup}` : `${date}: ${count} Sicherungen, darunter: ${backup}`),
    due: (at) => `Nächste Sicherung fällig: ${at}`,
    legend: {
      completed: "abgeschlossen",
      drillFailed: "Wiederherstellungstest nicht bestanden",
      failed: "fehlgeschlagen",
      running: "in Arbeit",
      none: "keine",
      due: "nächste Sicherung fällig",
    },
  },
};
