// Das Protokoll einer Instanz und das der Arbeit eines Vorgangs.
import type { Messages } from "../en/index.ts";

export const logs: Messages["logs"] = {
  title: "Protokoll",
  about:
    "Was zuletzt protokolliert wurde, vom Server der Instanz gelesen. Passwörter und Tokens sind unkenntlich. Zu Fehlern des ERP gehört ihr Traceback.",
  refresh: "Aktualisieren",
  follow: "Mitlesen",
  source: "Wessen Protokoll",
  sources: { erp: "ERP", database: "Datenbank", proxy: "Anfragen" },
  withData: "Es zeigt Anweisungen mit ihren Daten, deshalb brauchen Sie auch das Recht, Sicherungen wiederherzustellen.",
  download: "Herunterladen",
  level: "Mindeststufe",
  levels: {
    debug: "Alle Stufen",
    info: "Ab Info",
    warning: "Warnungen und Fehler",
    error: "Nur Fehler",
    critical: "Nur schwere Fehler",
  },
  search: "Protokoll durchsuchen",
  searchPlaceholder: "Text in einer Meldung",
  none: "Das Protokoll ist leer.",
  noMatch: "Keine Meldung passt.",
  counter: (matching, all) => (matching === all ? `${all} Meldungen` : `${matching} von ${all} Meldungen`),
  older: "Ältere Meldungen fehlen.",
  gap: "Es wurde mehr protokolliert, als gelesen werden konnte: Dazwischen fehlen Meldungen.",
};
