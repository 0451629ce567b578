// The upload of a backup that was made elsewhere.
import type { uploads as en } from "../en/uploads.ts";

export const uploads: typeof en = {
  title: "Sicherung hochladen",
  backups: "Sicherungen",
  serverFor: "Das Archiv wird auf einem aktiven Server geprüft.",
  file: {
    label: "Datei",
    about: "Eine Sicherung im Zip-Format von Odoo: aus der Datenbankverwaltung, von odoo db dump oder hier heruntergeladen.",
    choose: "Datei auswählen",
    empty: "Diese Datei ist leer.",
    unreadable: "Der Browser kann die Datei nicht lesen: Sie wurde geändert, verschoben oder gelöscht. Wählen Sie sie erneut aus",
  },
  server: {
    label: "Server",
    placeholder: "Aktiven Server auswählen",
    about:
      "Er prüft das Archiv in einer temporären Datenbank ohne Netzwerk. Die Instanz können Sie auch auf einem anderen Server anlegen.",
    aboutLater: "Er prüft das Archiv, sobald es hochgeladen ist.",
  },
  note: "Notiz",
  notePlaceholder: "Vom alten Server",
  upload: "Hochladen",
  continue: "Upload fortsetzen",
  unfinished: {
    title: (name, size) => `Unvollständiger Upload: ${name}, ${size}`,
    about: "Wählen Sie dieselbe Datei, um den Upload an derselben Stelle fortzusetzen.",
    elsewhere:
      "In einem anderen Browser oder über die API begonnen. Setzen Sie ihn dort fort, oder verwerfen Sie ihn, um Platz zu schaffen.",
  },
  abort: "Upload verwerfen",
  abortTitle: (name) => `Upload von ${name} verwerfen`,
  abortAbout: "Löscht, was bisher hochgeladen wurde. Ihre Datei bleibt unverändert.",
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
  keepOpen: "Lassen Sie diese Seite geöffnet. Wenn sie geschlossen wird, wählen Sie zum Fortsetzen dieselbe Datei erneut aus.",
  another: "Weitere Datei hochladen",
  rejected: (status) => `Der Speicher hat einen Teil der Datei abgelehnt (HTTP ${status})`,
  leaving: {
    title: "Seite verlassen?",
    about: "Der Upload wird angehalten. Sie können später dieselbe Datei auswählen, um ihn fortzusetzen.",
    leave: "Verlassen",
    stay: "Bleiben",
  },
};
