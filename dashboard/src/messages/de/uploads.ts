// The upload of a backup that was made elsewhere.
import type { uploads as en } from "../en/uploads.ts";

export const uploads: typeof en = {
  title: "Sicherung hochladen",
  backups: "Sicherungen",
  serverFor: "Ein aktiver Server untersucht das Archiv.",
  file: {
    label: "Datei",
    about: "Eine Sicherung im Zip-Format von Odoo: aus der Datenbankverwaltung, von odoo db dump oder hier heruntergeladen.",
    choose: "Datei auswählen",
    unreadable: "Der Browser kann die Datei nicht lesen: Sie wurde geändert, verschoben oder gelöscht. Bitte erneut auswählen",
  },
  server: {
    label: "Server",
    placeholder: "Aktiven Server auswählen",
    about:
      "Untersucht das Archiv in einer Wegwerf-Datenbank ohne Netzwerk. Die Instanz kann auf einem anderen Server angelegt werden.",
    aboutLater: "Untersucht das Archiv, sobald es hochgeladen ist.",
  },
  note: "Notiz",
  notePlaceholder: "Vom alten Server",
  upload: "Hochladen",
  continue: "Upload fortsetzen",
  unfinished: {
    title: (name, size) => `Unvollständiger Upload: ${name}, ${size}`,
    about: "Mit derselben Datei geht er dort weiter, wo er stehen geblieben ist.",
  },
  abort: "Upload verwerfen",
  abortAbout: "Entfernt, was schon hochgeladen ist. Die Datei selbst bleibt, wie sie ist.",
  phases: {
    paused: (name) => `Pausiert: ${name}`,
    stored: (name) => `Hochgeladen: ${name}`,
    sending: (name) => `Wird hochgeladen: ${name}`,
  },
  progressOf: (name) => `Upload von ${name}`,
  sent: (sent, all) => `${sent} von ${all}`,
  left: (time) => `noch ${time}`,
  checked: (percent) => `${percent} % geprüft`,
  pause: "Pausieren",
  resume: "Fortsetzen",
  chooseAgain: "Datei erneut auswählen",
  keepOpen: "Diese Seite offen lassen. Wird sie geschlossen, geht es mit derselben Datei weiter.",
  another: "Andere Datei hochladen",
  rejected: (status) => `Der Speicher hat einen Teil der Datei abgelehnt (HTTP ${status})`,
  leaving: {
    title: "Seite verlassen?",
    about: "Der Upload hält an. Später geht er mit derselben Datei weiter.",
    leave: "Verlassen",
    stay: "Bleiben",
  },
};
