// Actions on many records at once.
import type { bulk as en, Selectable } from "../en/bulk.tsx";

const MANY = { server: "Server", instance: "Instanzen" } as const;
/** After "von". */
const OF_MANY = { server: "Servern", instance: "Instanzen" } as const;
const ONE = { server: "Server", instance: "Instanz" } as const;
const NONE = { server: "keiner", instance: "keine" } as const;

const countOf = (number: number, kind: Selectable): string => `${number} ${(number === 1 ? ONE : MANY)[kind]}`;
const ofCount = (number: number, kind: Selectable): string => `${number} ${(number === 1 ? ONE : OF_MANY)[kind]}`;
/** "Neu starten" at the end of a sentence. */
const last = (verb: string): string => verb.charAt(0).toLowerCase() + verb.slice(1);

export const bulk: typeof en = {
  actions: "Aktionen",
  selectFirst: (kind) => `Wählen Sie zuerst ${MANY[kind]} aus.`,
  busy: "Es läuft bereits eine Sammelaktion.",
  confirm: (verb, number, kind) => `${countOf(number, kind)} ${last(verb)}`,
  ask: (verb, number, kind) => `${countOf(number, kind)} ${last(verb)}?`,
  none: (verb, selected, kind) => `${verb}: ${NONE[kind]} von ${ofCount(selected, kind)}`,
  oneByOne: (done, kind) => `Die ${MANY[kind]} werden nacheinander ${last(done)}, jeweils als eigener Vorgang.`,
  included: (number) => `Betroffen (${number})`,
  leftOut: (number) => `Ausgelassen (${number})`,
  running: (running, kind) => `${MANY[kind]} ${last(running)}`,
  progress: (running, ended, all) => `${running}: ${ended} von ${all}`,
  inProgress: (number) => `${number} in Arbeit.`,
  keepOpen: (number) => `${number} in Arbeit. Lassen Sie diese Seite geöffnet, bis alle Anfragen gesendet sind.`,
  waiting: (time) => <>Zu viele Anfragen. Weiter geht es in {time}.</>,
  cancelRest: "Übrige abbrechen",
  result: (done, number, all, kind) => `${done}: ${number} von ${ofCount(all, kind)}`,
  dismiss: "Schließen",
  again: "Diese erneut versuchen",
  notStarted: "Nicht angefordert.",
  failed: "Fehlgeschlagen",
  labels: {
    change: "Labels ändern",
    title: (number, kind) => `Labels von ${ofCount(number, kind)} ändern`,
    confirm: (number, kind) => `${countOf(number, kind)} ändern`,
    running: (kind) => `Labels der ${MANY[kind]} werden geändert`,
    done: "Labels geändert",
    same: "Keine Änderung nötig.",
    tooMany: (most) => `Es wären mehr als ${most} Labels.`,
    add: "Hinzuzufügende Labels",
    addAbout: "Eines pro Zeile, zum Beispiel env: production. Labels mit demselben Schlüssel werden ersetzt.",
    remove: "Zu entfernende Schlüssel",
    removeAbout: "Durch Kommas getrennt, zum Beispiel env, team.",
  },
};
