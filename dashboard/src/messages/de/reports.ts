// Was Server über sich melden: Festplatte, Arbeitsspeicher, Zertifikate.
import type { reports as en } from "../en/reports.ts";

export const reports: typeof en = {
  disk: "Freier Speicherplatz",
  memory: "Freier Arbeitsspeicher",
  of: (free, all) => `${free} von ${all}`,
  at: "Gemeldet",
  none: "Noch nicht gemeldet",
  lowDisk: {
    title: "Wenig Speicherplatz",
    onServer: (server, free, disk) =>
      `Auf ${server} sind ${free} von ${disk} frei. Sicherungen und Wiederherstellungen können fehlschlagen, und bei voller Festplatte bleiben die Datenbanken stehen. Nicht mehr benötigte Instanzen löschen, oder einige auf einen anderen Server klonen und die Originale löschen.`,
    onForm: (server, free, disk) =>
      `Auf ${server} sind ${free} von ${disk} frei. Einen anderen Server auswählen oder dort zuerst nicht mehr benötigte Instanzen löschen.`,
  },
  certificate: {
    label: "Zertifikat",
    status: { pending: "Ausstehend", valid: "Gültig", failing: "Fehlerhaft" },
    expires: "Zertifikat läuft ab",
    checked: "Zertifikat geprüft",
    unchecked: "Noch nicht geprüft",
    failing: {
      title: "Zertifikat nicht erhalten oder nicht erneuert",
      about: (domain) =>
        `Der Server konnte für ${domain} kein Zertifikat erhalten oder erneuern. Der DNS-Eintrag muss genau den Wert unten haben, und es darf keinen anderen für diesen Namen geben. Der Server versucht es von selbst erneut.`,
    },
    leaves:
      "Der Server prüft alle zehn Minuten. Diese Karte verschwindet, sobald der Eintrag zu ihm führt und das Zertifikat gültig ist.",
  },
};
