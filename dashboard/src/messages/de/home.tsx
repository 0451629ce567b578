// The home page.
import type { home as en } from "../en/home.tsx";

export const home: typeof en = {
  title: "Übersicht",
  servers: "Server",
  instances: "Instanzen",
  backups: "Sicherungen",
  counted: (number, status, title) => `${title} mit Status „${status}“: ${number}`,
  countedInProgress: (number, title) => `${title} in Arbeit: ${number}`,
  inProgress: "In Arbeit",
  nothingInProgress: "Zurzeit laufen keine Vorgänge.",
  startedBy: (name, time) => (
    <>
      Gestartet von {name} {time}
    </>
  ),
  protection: "Schutz",
  lowDisks: {
    almostFull: (servers) =>
      servers === 1 ? "Die Festplatte eines Servers ist fast voll" : `Die Festplatten von ${servers} Servern sind fast voll`,
    almostFullAbout:
      "Weniger als 5 % sind frei: Sicherungen und Wiederherstellungen schlagen fehl, und Instanzen können angehalten werden. Löschen Sie nicht mehr benötigte Instanzen.",
    low: (servers) =>
      servers === 1 ? "Auf einem Server ist wenig Speicherplatz frei" : `Auf ${servers} Servern ist wenig Speicherplatz frei`,
    lowAbout: "Weniger als 15 % sind frei. Sicherungen und Wiederherstellungen können bald fehlschlagen.",
    view: "Server anzeigen",
  },
  failures: "Zuletzt fehlgeschlagen",
  noFailures: (days) => `In den letzten ${days} Tagen ist nichts fehlgeschlagen.`,
  firstSteps: {
    title: "In vier Schritten zu Ihrer ersten geschützten Instanz",
    done: "Erledigt",
    key: {
      title: "1. SSH-Schlüssel hinzufügen",
      text: "Damit melden Sie sich über SSH auf Ihren Servern an. Fügen Sie nur Ihren öffentlichen Schlüssel ein, hier oder beim Anlegen eines Servers.",
      button: "SSH-Schlüssel hinzufügen",
    },
    server: {
      title: "2. Server anlegen",
      text: "Ein Rechner bei einem Anbieter Ihrer Wahl, auf dem Ihre Instanzen laufen.",
      button: "Server anlegen",
      view: "Server anzeigen",
      inProgress: "Ihr Server wird angelegt. Das dauert einige Minuten.",
      offline: "Ihr Server ist offline. Öffnen Sie ihn, um den Grund zu sehen.",
    },
    instance: {
      title: "3. Instanz anlegen",
      text: "Odoo mit eigener Datenbank und eigener Domain auf Ihrem Server.",
      button: "Instanz anlegen",
    },
    policy: {
      title: "4. Instanz schützen",
      text: "Ein Sicherungsplan sichert sie täglich und behält so viele Sicherungen, wie Sie möchten.",
      button: "Automatische Sicherungen einrichten",
    },
  },
};
