// Why an action isn't possible now. Statuses of servers and instances are parameters as `text.resource.statuses` has them:
// "Läuft".
import type { BackupStatus, InstanceAction } from "../../../../shared/domain/lifecycle.ts";
import type { allowed as en } from "../en/allowed.ts";

const DOING: Record<InstanceAction, string> = {
  start: "Starten",
  stop: "Stoppen",
  restart: "Ein Neustart",
  backup: "Sichern",
  restore: "Wiederherstellen",
  deploy: "Ein Deployment",
  update: "Ein Wechsel der Domain",
  delete: "Löschen",
};

const BACKUP_IS: Record<BackupStatus, string | undefined> = {
  pending: "Die Sicherung hat noch nicht begonnen",
  running: "Die Sicherung läuft noch",
  completed: "Die Sicherung ist abgeschlossen",
  failed: "Die Sicherung ist fehlgeschlagen",
  deleting: "Die Sicherung wird gerade gelöscht",
};

const either = new Intl.ListFormat("de", { type: "disjunction" });
const quoted = (status: string): string => `„${status}“`;

const backupIs = (status: BackupStatus): string => BACKUP_IS[status] ?? `Die Sicherung hat den Status ${quoted(status)}`;

export const allowed: typeof en = {
  busy: "Es läuft noch ein anderer Vorgang. Warten Sie, bis er beendet ist.",
  unknownStatus: (status) =>
    `Diese Seite kennt den Status ${quoted(status)} noch nicht. Laden Sie sie neu, oder versuchen Sie es später noch einmal.`,
  instance: {
    status: (action, status, needed) =>
      `${DOING[action]} ist im Status ${quoted(status)} nicht möglich, nur im Status ${either.format(needed.map(quoted))}.`,
    already: { running: "Die Instanz läuft bereits.", stopped: "Die Instanz ist bereits gestoppt." },
    server: (name, status) => `Der Server ${name} hat den Status ${quoted(status)}. Er muss aktiv sein.`,
    neverInstalled: "Odoo wurde nie installiert. Löschen Sie diese Instanz und legen Sie eine neue an.",
    deleting: "Diese Instanz wird gerade gelöscht.",
  },
  server: {
    checking: "Es wird nach Instanzen gesucht…",
    notActive: "Der Server muss aktiv sein.",
    instances: (number) =>
      number === 1
        ? "Auf dem Server ist noch 1 Instanz. Löschen Sie zuerst diese Instanz."
        : `Auf dem Server sind noch ${number} Instanzen. Löschen Sie zuerst diese Instanzen.`,
  },
  backup: {
    unusable: (status) => `${backupIs(status)}. Nur abgeschlossene Sicherungen können verwendet werden.`,
    uploaded: "Eine hochgeladene Sicherung hat keine Instanz. Legen Sie stattdessen eine Instanz daraus an.",
    instanceDeleted: "Die Instanz wurde gelöscht. Stellen Sie die Sicherung stattdessen in einer neuen Instanz wieder her.",
    busy: "Ein anderer Vorgang verwendet diese Sicherung. Warten Sie, bis er beendet ist.",
    inUse: "Wird für eine Wiederherstellung verwendet. Warten Sie, bis dieser Vorgang beendet ist.",
    locked: "Die Sicherung ist gesperrt. Entsperren Sie sie zuerst unter „Details bearbeiten“.",
    cannotChange: (status) => `${backupIs(status)} und lässt sich daher nicht ändern.`,
    cannotDelete: (status) => `${backupIs(status)} und lässt sich daher nicht löschen.`,
  },
};
