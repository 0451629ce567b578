// The home page.
import type { home as en } from "../en/home.tsx";

export const home: typeof en = {
  title: "Übersicht",
  servers: "Server",
  instances: "Instanzen",
  backups: "Sicherungen",
  counted: (_number, digits, status, title) => `${title} mit Status „${status}“: ${digits}`,
  countedInProgress: (_number, digits, title) => `${title} in Arbeit: ${digits}`,
  inProgress: "In Arbeit",
  nothingInProgress: "Zurzeit laufen keine Vorgänge.",
  startedBy: (name, time) => (
    <>
      Gestartet von {name} {time}
    </>
  ),
  protection: "Schutz",
  worst: {
    title: "Am stärksten ausgelastet",
    about: "Die zehn am stärksten ausgelasteten Server und Instanzen, wie ihre Server sie zuletzt gemeldet haben.",
    partly:
      "Die zehn am stärksten ausgelasteten Server und Instanzen. Es sind zu viele Server, um die Instanzen aller zu vergleichen.",
    memory: "Arbeitsspeicher von Servern",
    disk: "Speicherplatz von Servern",
    times: "Antwortzeiten von Instanzen (95 von 100 Anfragen)",
    none: "In letzter Zeit wurde nichts gemeldet.",
    percent: (value) => `${value} % belegt`,
    milliseconds: (value) => `${value} ms`,
  },
  lowDisks: {
    title: "Festplatten, die voll werden",
    almostFull: "Fast voll",
    almostFullAbout:
      "Weniger als 5 % sind frei: Sicherungen und Wiederherstellungen schlagen fehl, und Instanzen können angehalten werden. Löschen Sie nicht mehr benötigte Instanzen.",
    low: "Wenig Platz",
    lowAbout: "Weniger als 15 % sind frei. Sicherungen und Wiederherstellungen können bald fehlschlagen.",
  },
  needs: {
    title: "Zu erledigen",
    nothing: "Zurzeit ist nichts zu erledigen.",
    offline: "Server offline",
    diskFull: "Festplatte fast voll",
    overdue: "Sicherung überfällig",
    lastBackup: (time) => <>Letzte Sicherung: {time}</>,
    never: "noch nie",
    backUp: "Jetzt sichern",
    backUpOf: (name) => `${name} jetzt sichern`,
    show: "Anzeigen",
    showOf: (name) => `${name}: Anzeigen`,
    acts: {
      restart: "Neu starten",
      quota: "Details bearbeiten",
      reason: "Anzeigen",
      dns: "DNS-Eintrag anzeigen",
      charts: "Messwerte anzeigen",
      log: "Protokoll anzeigen",
    },
    actOn: (act, name) => `${act}: ${name}`,
    unprotected: (instances) =>
      instances === 1
        ? "1 Instanz ist nicht durch Sicherungen geschützt"
        : `${instances} Instanzen sind nicht durch Sicherungen geschützt`,
    protect: "Schützen",
    updates: (instances) =>
      instances === 1 ? "Für 1 Instanz gibt es ein neueres Image" : `Für ${instances} Instanzen gibt es ein neueres Image`,
    showUpdates: "Instanzen anzeigen",
    reboots: (servers) =>
      servers === 1 ? "1 Server muss neu gestartet werden" : `${servers} Server müssen neu gestartet werden`,
    showReboots: "Server anzeigen",
    keyExpires: (name, time) => (
      <>
        API-Schlüssel {name} läuft ab: {time}
      </>
    ),
    keys: "API-Schlüssel anzeigen",
    allOverdue: (instances) => `Alle ${instances} überfälligen Sicherungen anzeigen`,
    allFailures: "Alle fehlgeschlagenen Vorgänge anzeigen",
    allAlerts: "Alle offenen Warnungen anzeigen",
  },
  nights: {
    title: "Sicherungen der letzten 7 Tage",
    about: "Jede Instanz, die gesichert wurde; die mit Problemen zuerst.",
    close: "Sicherungen der letzten 7 Tage schließen",
    partly: (backups) => `Die letzten ${backups} Sicherungen; die Instanzen mit Problemen zuerst.`,
    someOverdue: (instances) => `Überfällige Sicherungen werden nur für ${instances} Instanzen angezeigt.`,
    instance: "Instanz",
    last: "Letzte Sicherung",
    drill: "Test",
    size: "Größe",
    none: "keine",
    noneLately: "seit 7 Tagen nicht",
    unknown: "nicht bekannt",
    all: (instances) => `Alle ${instances} Instanzen anzeigen`,
  },
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
