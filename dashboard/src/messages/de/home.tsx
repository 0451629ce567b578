// The home page.
import type { home as en } from "../en/home.tsx";

export const home: typeof en = {
  title: "Übersicht",
  servers: "Server",
  instances: "Instanzen",
  backups: "Sicherungen",
  counted: (number, status, title) => `${title}, ${status.toLowerCase()}: ${number}`,
  countedInProgress: (number, title) => `${title} in Arbeit: ${number}`,
  inProgress: "In Arbeit",
  nothingInProgress: "Zurzeit läuft kein Vorgang.",
  startedBy: (name, time) => (
    <>
      Gestartet von {name} {time}
    </>
  ),
  protection: "Schutz",
  failures: "Neueste Fehlschläge",
  noFailures: (days) => `Keine Fehlschläge in den letzten ${days} Tagen.`,
  deleted: "gelöscht",
  firstSteps: {
    title: "In vier Schritten zur ersten geschützten Instanz",
    done: "Erledigt",
    key: {
      title: "1. SSH-Schlüssel hinzufügen",
      text: "Damit ist die Anmeldung auf den Servern über SSH möglich. Nur der öffentliche Schlüssel wird gebraucht, hier oder beim Anlegen eines Servers.",
      button: "SSH-Schlüssel hinzufügen",
    },
    server: {
      title: "2. Server anlegen",
      text: "Ein Rechner bei einem Anbieter nach Wahl, auf dem die Instanzen laufen.",
      button: "Server anlegen",
      view: "Server ansehen",
      inProgress: "Der Server wird angelegt. Das dauert einige Minuten.",
      offline: "Der Server ist offline. Seine Seite zeigt den Grund.",
    },
    instance: {
      title: "3. Instanz anlegen",
      text: "Odoo mit eigener Datenbank und eigener Domain auf diesem Server.",
      button: "Instanz anlegen",
    },
    policy: {
      title: "4. Instanz schützen",
      text: "Ein Sicherungsplan sichert sie täglich und behält so viele Sicherungen wie gewünscht.",
      button: "Automatische Sicherungen einrichten",
    },
  },
};
