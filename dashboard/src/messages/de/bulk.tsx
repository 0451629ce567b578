// Actions on many records at once.
import type { bulk as en, Selectable } from "../en/bulk.tsx";

const MANY = { server: "Server", instance: "Instanzen" } as const;
/** After "von". */
const OF_MANY = { server: "Servern", instance: "Instanzen" } as const;
const ONE = { server: "Server", instance: "Instanz" } as const;

const countOf = (number: number, kind: Selectable): string => `${number} ${(number === 1 ? ONE : MANY)[kind]}`;
const ofCount = (number: number, kind: Selectable): string => `${number} ${(number === 1 ? ONE : OF_MANY)[kind]}`;
/** "Neu starten" at the end of a sentence. */
const last = (verb: string): string => verb.charAt(0).toLowerCase() + verb.slice(1);

export const bulk: typeof en = {
  actions: "Aktionen",
  selectFirst: (kind) => `Erst ${MANY[kind]} auswählen.`,
  busy: "Es läuft schon eine Aktion für mehrere.",
  confirm: (verb, number, kind) => `${countOf(number, kind)} ${last(verb)}`,
  ask: (verb, number, kind) => `${countOf(number, kind)} ${last(verb)}?`,
  none: (verb, selected, kind) => `${verb}: 0 von ${ofCount(selected, kind)}`,
  oneByOne: "Sie beginnen nacheinander, jede als eigener Vorgang.",
  included: (number) => `Betroffen (${number})`,
  leftOut: (number) => `Ausgelassen (${number})`,
  running: (running, kind) => `${MANY[kind]} ${last(running)}`,
  progress: (running, ended, all) => `${running}: ${ended} von ${all}`,
  inProgress: (number) => `${number} in Arbeit.`,
  keepOpen: (number) => `${number} in Arbeit. Diese Seite offen lassen, bis alle begonnen haben.`,
  waiting: (time) => <>Die API nimmt gerade keine weiteren Anfragen an. Weiter in {time}.</>,
  cancelRest: "Rest abbrechen",
  result: (done, number, all, kind) => `${done}: ${number} von ${ofCount(all, kind)}`,
  dismiss: "Schließen",
  again: "Diese erneut versuchen",
  notStarted: "Nicht begonnen.",
  failed: "Fehlgeschlagen",
  labels: {
    change: "Labels ändern",
    title: (number, kind) => `Labels von ${ofCount(number, kind)} ändern`,
    confirm: (number, kind) => `${countOf(number, kind)} ändern`,
    running: (kind) => `Labels der ${MANY[kind]} werden geändert`,
    done: "Labels geändert",
    same: "Schon wie gewünscht.",
    tooMany: (most) => `Hätte mehr als ${most} Labels.`,
    add: "Labels hinzufügen",
    addAbout: "Eines je Zeile, zum Beispiel env: production. Labels mit demselben Schlüssel werden ersetzt.",
    remove: "Schlüssel entfernen",
    removeAbout: "Durch Kommas getrennt, zum Beispiel env, team.",
  },
};
