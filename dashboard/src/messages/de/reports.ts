// What servers report about themselves: disk, memory, certificates, and whether their ERPs can be used.
import type { reports as en } from "../en/reports.ts";

export const reports: typeof en = {
  disk: "Speicherplatz",
  memory: "Arbeitsspeicher",
  free: (free, all) => `${free} von ${all} frei`,
  used: (used, all) => `Belegt: ${used} von ${all}`,
  ofQuota: (used, quota) => `${used} von ${quota} Kontingent`,
  system: "Betriebssystem",
  needsReboot: "Aktualisiert: Die Aktualisierungen wirken erst nach einem Neustart des Servers",
  needsNoReboot: "Kein Neustart nötig",
  at: "Gemeldet",
  none: "Noch nicht gemeldet",
  lowDisk: {
    title: "Wenig Speicherplatz",
    almostFull: "Festplatte fast voll",
    onServer: (server, free, disk) =>
      `Auf ${server} sind ${free} von ${disk} frei. Sicherungen und Wiederherstellungen können fehlschlagen, und wenn die Festplatte voll ist, bleiben die Datenbanken stehen. Löschen Sie nicht mehr benötigte Instanzen oder klonen Sie einige auf einen anderen Server und löschen Sie die Originale.`,
    onForm: (server, free, disk) =>
      `Auf ${server} sind ${free} von ${disk} frei. Wählen Sie einen anderen Server oder löschen Sie dort zuerst nicht mehr benötigte Instanzen.`,
  },
  health: {
    label: "Zustand",
    failingSince: "Gestört seit",
    restarts: "Der Dienst startet das ERP automatisch neu, höchstens dreimal am Tag.",
  },
  certificate: {
    label: "Zertifikat",
    expires: "Zertifikat läuft ab",
    checked: "Zertifikat geprüft",
    unchecked: "noch nicht",
    failing: {
      title: "Das Zertifikat konnte nicht ausgestellt oder erneuert werden",
      about: (domain) =>
        `Der Server konnte für ${domain} kein Zertifikat erhalten oder erneuern. Stellen Sie sicher, dass der DNS-Eintrag genau diesen Wert hat, und entfernen Sie alle anderen Einträge für diesen Namen. Der Server versucht es automatisch erneut.`,
    },
    leaves:
      "Der Server prüft alle zehn Minuten. Diese Karte verschwindet, sobald der Eintrag auf ihn zeigt und das Zertifikat gültig ist.",
  },
};
