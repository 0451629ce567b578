// What all resources share: statuses, lists, forms, dialogs, times and sizes. Titles of lists are in the plural: "Instanzen".
import type { resource as en } from "../en/resource.tsx";
import { reasons } from "./reasons.ts";
import { sentences } from "./sentences.ts";

/** In the accusative: "den API-Schlüssel", "das Admin-Passwort". */
const the = (what: string): string => `${/passwort$/i.test(what) ? "das" : "den"} ${what}`;

export const resource: typeof en = {
  statuses: {
    server: { provisioning: "Wird bereitgestellt", active: "Aktiv", offline: "Offline" },
    instance: {
      provisioning: "Wird bereitgestellt",
      running: "Läuft",
      stopping: "Wird gestoppt",
      stopped: "Gestoppt",
      starting: "Wird gestartet",
      restarting: "Wird neu gestartet",
      restoring: "Wird wiederhergestellt",
      failed: "Fehlgeschlagen",
      deleting: "Wird gelöscht",
    },
    backup: {
      pending: "Wartet",
      running: "Läuft",
      completed: "Abgeschlossen",
      failed: "Fehlgeschlagen",
      deleting: "Wird gelöscht",
    },
    protection: { protected: "Geschützt", overdue: "Überfällig", unprotected: "Ungeschützt" },
    certificate: { pending: "Ausstehend", valid: "Gültig", failing: "Fehlerhaft" },
    health: { ok: "Erreichbar", failing: "Gestört", unknown: "Unbekannt" },
    drill: { passed: "Bestanden", failed: "Nicht bestanden" },
    operation: { pending: "Wartet", running: "Läuft", succeeded: "Erfolgreich", failed: "Fehlgeschlagen" },
    item: {
      waiting: "Wartet",
      running: "In Arbeit",
      succeeded: "Erledigt",
      failed: "Fehlgeschlagen",
      cancelled: "Abgebrochen",
    },
  },
  reasons,
  sentences,
  conflict: {
    title: "Inzwischen von jemand anderem geändert",
    about: "Ihre Änderungen sind noch nicht gespeichert. Behalten Sie sie, oder übernehmen Sie den jetzigen Stand.",
    field: "Feld",
    theirs: "Jetzt",
    mine: "Ihre Eingabe",
    same: "unverändert",
    yes: "Ja",
    no: "Nein",
    keep: "Meine Änderungen behalten",
    discard: "Meine Änderungen verwerfen",
  },
  list: {
    loading: "Wird geladen",
    refresh: (title) => `${title} aktualisieren`,
    download: (title) => `${title} als CSV herunterladen`,
    actions: "Aktionen",
    select: (title) => `${title} auswählen`,
    selectPage: (title) => `Alle auf dieser Seite auswählen: ${title}`,
    selectOne: (name) => `${name} auswählen`,
    act: (action, name) => `${name}: ${action}`,
    selected: (number) => `${number} ausgewählt`,
    selectAll: (number) => `Alle ${number} auswählen`,
    clearSelection: "Auswahl aufheben",
    noMatches: "Keine Treffer für diesen Filter.",
    nothingHere: "Diese Seite ist leer.",
    clearFilter: "Filter zurücksetzen",
    firstPage: "Zu Seite 1",
    updated: {
      now: "Gerade eben aktualisiert",
      seconds: (seconds) => `Vor ${seconds} s aktualisiert`,
      minutes: (minutes) => `Vor ${minutes} min aktualisiert`,
    },
  },
  find: {
    label: (title) => `${title} suchen`,
    placeholder: "Name, Domain, Notiz, Label (env:prod)",
    sort: "Sortieren",
    sorts: { "": "Neueste zuerst", oldest: "Älteste zuerst", name: "Name A–Z", "name-desc": "Name Z–A" },
    any: { status: "Jeder Status", protection: "Jeder Schutzstatus", health: "Jeder Zustand" },
    filter: { status: "Nach Status filtern", protection: "Nach Schutz filtern", health: "Nach Zustand filtern" },
  },
  paging: {
    label: "Seiten",
    previous: "Vorherige Seite",
    next: "Nächste Seite",
    page: (page, pages) => `Seite ${page} von ${pages}`,
  },
  preferences: {
    title: (title) => `Ansicht: ${title}`,
    save: "Speichern",
    pageSize: "Einträge pro Seite",
    perPage: (size) => `${size} pro Seite`,
    columns: "Spalten",
    density: "Zeilenabstand",
    compact: "Kompakte Zeilen",
  },
  chooser: {
    noMatches: (total, what) => `Keine Treffer (${total} ${what} durchsucht)`,
    find: (what) => `${what} suchen`,
    search: (total, what) => `${total} ${what} durchsuchen`,
    loading: (what) => `${what} werden geladen`,
    loadingMore: (what, loaded, all) => `${what} werden geladen: ${loaded} von ${all}`,
    failed: (what) => `${what} konnten nicht geladen werden.`,
  },
  form: {
    cancel: "Abbrechen",
    optional: (label) => (
      <>
        {label} <i>– optional</i>
      </>
    ),
    typeName: (name) => `Geben Sie zur Bestätigung ${name} ein`,
    required: "Diese Angabe ist erforderlich.",
  },
  labels: {
    title: "Labels",
    about: "Eines pro Zeile, zum Beispiel env: production. Danach können Sie Listen filtern.",
  },
  help: {
    info: "Info",
    about: (term) => `Info zu ${term}`,
    close: "Schließen",
  },
  copy: {
    copy: (what) => `${what} kopieren`,
    copied: "Kopiert",
    failed: "Kopieren nicht möglich. Markieren Sie den Text und kopieren Sie ihn von Hand.",
  },
  apiCall: {
    show: "API-Aufruf anzeigen",
    sessionsOnly: "Das geht nur im Dashboard. Die API nimmt dafür keine API-Schlüssel an.",
    call: (kind) => `Aufruf mit ${kind}`,
    copy: (kind) => `Aufruf mit ${kind} kopieren`,
    token: "Setzen Sie TOKEN auf einen API-Schlüssel. Passwörter werden weggelassen.",
    idempotencyKey: "Verwenden Sie für jede neue Aktion einen neuen Idempotenzschlüssel.",
  },
  secret: {
    warning: (what) => `Kopieren Sie ${the(what)} jetzt. Später ist das nicht mehr möglich.`,
    saveFirst: "Speichern Sie den Wert zuerst und setzen Sie dann dieses Häkchen.",
    saved: (what) => `Ich habe ${the(what)} gespeichert`,
    done: "Fertig",
  },
  forecast: {
    effects: "Was geschieht",
    downtime: "Voraussichtliche Ausfallzeit",
    disk: "Benötigter Speicherplatz",
    nextRuns: "Nächste Läufe",
    never: "Keine",
    unknown: "Noch nicht abschätzbar",
    none: "Keine",
    about: (time) => `Etwa ${time}`,
    more: (number) => `Und ${number} weitere wie zuletzt genannt`,
  },
  time: {
    soon: "gleich",
    now: "gerade eben",
    exact: (time, distance) => `${time} (${distance})`,
    utc: (time) => `${time} UTC`,
  },
  units: ["Byte", "kB", "MB", "GB", "TB"],
};
