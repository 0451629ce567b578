// Why an action isn't possible now. Statuses are parameters as `text.resource.statuses` has them: "Läuft".
import type { InstanceAction } from "../../../../shared/domain/lifecycle.ts";
import type { allowed as en } from "../en/allowed.ts";

const DOING: Record<InstanceAction, string> = {
  start: "Starten",
  stop: "Stoppen",
  restart: "Ein Neustart",
  backup: "Sichern",
  restore: "Wiederherstellen",
  update: "Ein Wechsel der Domain",
  delete: "Löschen",
};

const either = new Intl.ListFormat("de", { type: "disjunction" });
const quoted = (status: string): string => `„${status}“`;

export const allowed: typeof en = {
  busy: "Ein anderer Vorgang läuft. Bitte sein Ende abwarten.",
  instance: {
    status: (action, status, needed) =>
      `${DOING[action]} ist im Status ${quoted(status)} nicht möglich, nur im Status ${either.format(needed.map(quoted))}.`,
    server: (name, status) => `Der Server ${name} hat den Status ${quoted(status)}. Er muss aktiv sein.`,
    neverInstalled: "Odoo wurde nie installiert. Bitte diese Instanz löschen und eine neue anlegen.",
    deleting: "Diese Instanz wird gerade gelöscht.",
  },
  server: {
    checking: "Instanzen werden geprüft…",
    instances: (number) =>
      number === 1
        ? "Auf dem Server ist noch eine Instanz. Sie muss zuerst gelöscht werden."
        : `Auf dem Server sind noch ${number} Instanzen. Sie müssen zuerst gelöscht werden.`,
  },
  backup: {
    unusable: (status) => `Die Sicherung hat den Status ${quoted(status)}. Nur abgeschlossene Sicherungen sind verwendbar.`,
    uploaded: "Eine hochgeladene Sicherung hat keine Instanz. Stattdessen lässt sich daraus eine anlegen.",
    instanceDeleted: "Die Instanz wurde gelöscht. Stattdessen lässt sie sich aus dieser Sicherung klonen.",
    busy: "Ein anderer Vorgang verwendet diese Sicherung. Bitte sein Ende abwarten.",
    inUse: "Wird für eine Wiederherstellung oder einen Klon verwendet. Bitte das Ende abwarten.",
    locked: "Die Sicherung ist gesperrt. Sie muss zuerst unter „Details bearbeiten“ entsperrt werden.",
    cannotChange: (status) => `Im Status ${quoted(status)} ist die Sicherung nicht änderbar.`,
    cannotDelete: (status) => `Im Status ${quoted(status)} lässt sich die Sicherung nicht löschen.`,
  },
};
