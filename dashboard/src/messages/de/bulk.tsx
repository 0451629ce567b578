// Actions on many records at once.
import type { bulk as en, Selectable, Work } from "../en/bulk.tsx";

const MANY = { server: "Server", instance: "Instanzen", backup: "Sicherungen" } as const;
/** The plurals after "von". */
const OF_MANY = { ...MANY, server: "Servern" } as const;
const ONE = { server: "Server", instance: "Instanz", backup: "Sicherung" } as const;
const NONE = { server: "keiner", instance: "keine", backup: "keine" } as const;

const countOf = (number: number, kind: Selectable): string => `${number} ${(number === 1 ? ONE : MANY)[kind]}`;
const ofCount = (number: number, kind: Selectable): string => `${number} ${(number === 1 ? ONE : OF_MANY)[kind]}`;

const work = (verb: string, does: string, becomes: string, effect?: string): Work => ({
  verb,
  ask: (things) => `${things} ${does}`,
  running: (things) => `${things} werden ${becomes}`,
  ...(effect !== undefined && { effect }),
});

const LABELS: Work = {
  verb: "Labels ändern",
  ask: (things) => `Labels für ${things} ändern`,
  running: (things) => `Labels für ${things} werden geändert`,
};

export const bulk: typeof en = {
  actions: "Aktionen für Auswahl",
  selectFirst: (kind) => `Wählen Sie zuerst ${MANY[kind]} aus.`,
  count: countOf,
  many: (kind) => MANY[kind],
  work: {
    server: {
      reboot: work(
        "Neu starten",
        "neu starten",
        "neu gestartet",
        "Ihre Instanzen antworten nicht, bis sie wieder gestartet sind.",
      ),
      update: work(
        "Aktualisieren",
        "aktualisieren",
        "aktualisiert",
        "Pakete, Proxy und Datenbankserver werden aktualisiert. Instanzen starten neu, wenn ihr Datenbankserver ein neueres Image bekommt.",
      ),
      set_labels: LABELS,
    },
    instance: {
      start: work("Starten", "starten", "gestartet", "Die Benutzer können sich innerhalb einer Minute wieder anmelden."),
      stop: work(
        "Stoppen",
        "stoppen",
        "gestoppt",
        "Die Benutzer können sich erst wieder anmelden, wenn Sie die Instanzen starten. Es gehen keine Daten verloren.",
      ),
      restart: work(
        "Neu starten",
        "neu starten",
        "neu gestartet",
        "Die Verbindung der Benutzer wird kurz unterbrochen; nicht gespeicherte Änderungen gehen verloren.",
      ),
      backup: work("Sichern", "sichern", "gesichert", "Jede Instanz läuft während ihrer Sicherung weiter."),
      deploy: {
        verb: "Deployment starten",
        ask: (things) => `Deployment für ${things} starten`,
        running: (things) => `Deployment läuft für ${things}`,
        effect: "Jede bekommt ihren eigenen Code. Die Benutzer können sich nicht anmelden, während Module aktualisiert werden.",
      },
      set_policy: {
        verb: "Sicherungsplan festlegen",
        ask: (things) => `Sicherungsplan für ${things} festlegen`,
        running: (things) => `Sicherungsplan für ${things} wird festgelegt`,
      },
      delete_policy: {
        verb: "Sicherungsplan löschen",
        ask: (things) => `Sicherungsplan für ${things} löschen`,
        running: (things) => `Sicherungsplan für ${things} wird gelöscht`,
        effect: "Sie werden nicht mehr nach Zeitplan gesichert. Vorhandene Sicherungen bleiben.",
      },
      set_labels: LABELS,
      delete: work("Löschen", "löschen", "gelöscht", "Das lässt sich nicht rückgängig machen."),
    },
    backup: {
      lock: work("Sperren", "sperren", "gesperrt", "Niemand kann sie löschen, bis sie entsperrt werden."),
      unlock: work("Entsperren", "entsperren", "entsperrt", "Sie können wieder gelöscht werden."),
      drill: {
        verb: "Wiederherstellung testen",
        ask: (things) => `Wiederherstellung von ${things} testen`,
        running: (things) => `Wiederherstellung von ${things} wird getestet`,
        effect:
          "Jede wird auf ihrem Server in einer temporären Datenbank wiederhergestellt und geprüft. Keine Instanz wird verändert.",
      },
      set_labels: LABELS,
      delete: work("Löschen", "löschen", "gelöscht", "Die Archive werden gelöscht. Das lässt sich nicht rückgängig machen."),
    },
  },
  none: (verb, selected, kind) => `${verb}: ${NONE[kind]} von ${ofCount(selected, kind)}`,
  byService: "Der Dienst führt das aus, jeweils einige auf einmal. Sie können diese Seite schließen.",
  included: (number) => `Betroffen (${number})`,
  leftOut: (number) => `Ausgelassen (${number})`,
  gone: (number) =>
    number === 1
      ? "1 Eintrag gibt es nicht mehr; er wird ausgelassen."
      : `${number} Einträge gibt es nicht mehr; sie werden ausgelassen.`,
  allGone: "Von Ihrer Auswahl ist nichts mehr da",
  progress: (running, ended, all) => `${running}: ${ended} von ${all}`,
  inProgress: (running, failed) => `${running} in Arbeit${failed > 0 ? `, ${failed} fehlgeschlagen` : ""}.`,
  paused: "Pausiert. Was schon begonnen hat, läuft weiter.",
  cancelling: "Wird abgebrochen. Was schon begonnen hat, läuft weiter.",
  pause: "Pausieren",
  resume: "Fortsetzen",
  cancelRest: "Übrige abbrechen",
  results: "Ergebnisse",
  again: (number) => `${number} erneut versuchen`,
  parameters: {
    title: "Was",
    adds: (labels) => `Fügt die Labels ${labels} hinzu`,
    removes: (keys) => `Entfernt die Labels ${keys}`,
    labels: (labels) => (labels === "" ? "Keine Labels" : `Labels: ${labels}`),
    note: (note) => `Notiz: ${note}`,
    onServer: (id) => `Auf dem Server ${id}`,
    keeps: (words) => `Behält: ${words}`,
    drills: (words) => `Wiederherstellungstests: ${words}`,
    modules: {
      changed: "Aktualisiert die geänderten Module",
      all: "Aktualisiert alle Module des Codes",
      named: (names) => `Aktualisiert die Module ${names}`,
    },
    choices: {
      enabled: (yes) => (yes ? "Eingeschaltet" : "Ausgeschaltet"),
      with_backups: (yes) => (yes ? "Löscht auch ihre Sicherungen" : "Behält ihre Sicherungen"),
      rehearse: (yes) => (yes ? "Probt vorher" : "Ohne Probe"),
      backup_first: (yes) => (yes ? "Sichert vorher" : "Ohne Sicherung vorher"),
      update_image: (yes) => (yes ? "Aktualisiert auch das Image" : "Behält das Image"),
    },
  },
  columns: { resource: "Name", status: "Ergebnis", reason: "Grund", operation: "Vorgang" },
  open: "Anzeigen",
  noResults: "Nichts hat dieses Ergebnis.",
  labels: {
    confirm: (number, kind) => `${countOf(number, kind)} ändern`,
    same: "Keine Änderung nötig.",
    tooMany: (most) => `Es wären mehr als ${most} Labels.`,
    tooLong: (most) => `Die Labels wären zu lang: Schlüssel und Werte können zusammen ${most} Bytes haben.`,
    add: "Hinzuzufügende Labels",
    addAbout: "Eines pro Zeile, zum Beispiel env: production. Labels mit demselben Schlüssel werden ersetzt.",
    remove: "Zu entfernende Schlüssel",
    removeAbout: "Durch Kommas getrennt, zum Beispiel env, team.",
  },
  delete: {
    withBackups: "Auch ihre Sicherungen löschen",
    withBackupsAbout:
      "Gesperrte Sicherungen bleiben. Ohne das bleiben alle Sicherungen, und Sie können aus ihnen Instanzen anlegen.",
    typeCount: (number) => `Geben Sie zur Bestätigung die Anzahl ein: ${number}`,
    effects: {
      erp_deleted: "Entfernt das ERP mit seiner Datenbank und seinen Dateien",
      erp_deleted_later: "Entfernt das ERP mit seiner Datenbank und seinen Dateien, sobald sein Server wieder antwortet",
      backup_deleted: "Löscht eine Sicherung",
    },
  },
  alreadyDeleted: "Bereits gelöscht.",
  backupsLeft: "Bereits gelöscht. Um die übrigen Sicherungen zu löschen, folgen Sie dem Link in den Ergebnissen.",
  alreadyLocked: "Bereits gesperrt.",
  notLocked: "Nicht gesperrt.",
};
