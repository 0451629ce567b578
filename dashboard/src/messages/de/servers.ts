// Servers: their list, their pages, and what other pages say of them.
import type { servers as en } from "../en/servers.ts";

export const servers: typeof en = {
  title: "Server",
  about: "Die Rechner, auf denen die Instanzen laufen.",
  empty: "Noch keine Server. Die erste Instanz braucht einen.",
  one: "Server",
  create: "Server anlegen",
  fields: {
    name: "Name",
    nameAbout: "Wird zum Hostnamen des Rechners.",
    nameHint: "1 bis 63 Kleinbuchstaben, Ziffern und Bindestriche. Kein Bindestrich am Anfang oder Ende.",
    status: "Status",
    address: "IP-Adresse",
    noAddress: "Noch nicht zugewiesen",
    lastSeen: "Zuletzt erreicht",
    neverSeen: "Noch nie",
    created: "Angelegt",
    provider: "Anbieter",
    region: "Region",
    place: "Anbieter und Region",
    size: "Größe",
    sshKey: "SSH-Schlüssel",
    sshKeyDeleted: "Gelöscht (auf dem Server noch installiert)",
    labels: "Labels",
    id: "ID",
  },
  deleting: "Wird gelöscht",
  specs: (cpus, memoryGb, diskGb) =>
    `${cpus} CPU${cpus === 1 ? "" : "s"}, ${memoryGb} GB Arbeitsspeicher, ${diskGb} GB Speicherplatz`,
  price: {
    free: "Kostenlos",
    here: (month, hour) => `${month} im Monat, ${hour} je Stunde`,
    cheaperElsewhere: (month, hour, least) => `${month} im Monat, ${hour} je Stunde (in anderen Regionen ab ${least})`,
  },
  offers: {
    chooseProvider: "Anbieter auswählen",
    chooseRegion: "Region auswählen",
    none: "Keine verfügbar",
    prices: "Preise des Anbieters, ohne Steuern.",
    regionFirst: "Welche Größen verfügbar sind, hängt von der Region ab.",
  },
  detail: {
    title: "Details",
    edit: "Bearbeiten",
    delete: "Löschen",
    deleteAgain: "Löschen erneut versuchen",
    createLike: "Gleichen Server anlegen",
  },
  instances: {
    title: "Instanzen",
    name: "Name",
    status: "Status",
    domain: "Domain",
    version: "Version",
    empty: "Noch keine Instanzen auf diesem Server.",
    create: "Instanz anlegen",
    notActive: "Der Server muss aktiv sein.",
  },
  edit: {
    title: (name) => `${name} bearbeiten`,
    save: "Speichern",
    saved: (name) => `Server geändert: ${name}`,
  },
  deletion: {
    title: "Server löschen",
    about: "Löscht den Rechner und alles darauf endgültig.",
  },
  chooser: {
    what: "Server",
    none: "Keine aktiven Server",
  },
  noneActive: {
    title: "Keine aktiven Server",
    view: "Server anzeigen",
    text: "Erst einen Server anlegen oder warten, bis er bereit ist.",
  },
};
