// Instances: their list, their page, its actions, and the forms that create and clone them.
import type { instances as en } from "../en/instances.tsx";

export const instances: typeof en = {
  title: "Instanzen",
  one: "Instanz",
  about: "Odoo-Instanzen auf den eigenen Servern, jede mit eigener Datenbank, eigenen Dateien und eigener Domain.",
  empty: "Noch keine Instanzen.",
  fields: {
    name: "Name",
    nameHint: "Ein Anzeigename. Er lässt sich später ändern.",
    status: "Status",
    url: "URL",
    server: "Server",
    version: "Version",
    edition: "Edition",
    protection: "Schutz",
    domain: "Domain",
    databaseName: "Datenbankname",
    adminEmail: "E-Mail-Adresse des Admins",
    adminPassword: "Admin-Passwort",
    adminPasswordHint: "12 bis 128 Zeichen. Bleibt das Feld leer, wird eines erzeugt und einmal angezeigt.",
    created: "Angelegt",
    lastBackup: "Letzte Sicherung",
    never: "Nie",
    clonedFrom: "Geklont aus",
    outgoing: "Geplante Aktionen, E-Mails und Zahlungen",
    id: "ID",
  },
  // In the accusative: "Datenbanknamen kopieren".
  copied: {
    databaseName: "Datenbanknamen",
    adminEmail: "E-Mail-Adresse des Admins",
    adminPassword: "Admin-Passwort",
    login: "Anmeldenamen",
    id: "ID",
    recordType: "Typ des Eintrags",
    recordName: "Namen des Eintrags",
    recordValue: "Wert des Eintrags",
  },
  facts: {
    title: "Details",
    neutralization: "Neutralisierung",
    neutralizationAbout:
      "Eine neutralisierte Instanz verschickt keine E-Mails, führt keine geplanten Aktionen aus und nimmt keine Zahlungen an. So erreichen Tests niemanden. Beim Klonen und Wiederherstellen lässt sich „Neutralisieren“ wählen.",
    off: "Abgeschaltet (neutralisiert)",
    unchanged: "Unverändert",
    deletedBackup: "Eine gelöschte Sicherung",
    uploadedBackup: "Hochgeladene Sicherung",
    backupOf: (instance, time) => (
      <>
        {instance}, Sicherung vom {time}
      </>
    ),
  },
  dns: {
    title: "DNS-Eintrag",
    description: "Diesen Eintrag beim Registrar oder DNS-Anbieter anlegen.",
    about:
      "Er führt die Domain zum Server. Unter anderen Namen ist das ERP nicht erreichbar. Für eine andere Domain unter „Aktionen“ auf „Domain ändern“ gehen.",
    until:
      "Erst mit diesem Eintrag ist die Instanz erreichbar. Danach wird innerhalb von Minuten automatisch ein TLS-Zertifikat ausgestellt.",
    type: "Typ",
    name: "Name",
    value: "Wert",
    newDomain: "Die neue Domain",
    noAddress: "Die IP-Adresse des Servers steht noch nicht fest",
  },
  actions: {
    title: "Aktionen",
    start: "Starten",
    stop: "Stoppen",
    restart: "Neu starten",
    edit: "Details bearbeiten",
    domain: "Domain ändern",
    clone: "Klonen…",
    startCall: "API-Aufruf zum Starten anzeigen",
    startCallTitle: (name) => `${name} starten`,
    delete: "Löschen",
    startAgain: "Erneut starten",
    deleteFailed: "Instanz löschen",
  },
  backups: {
    empty: "Noch keine Sicherungen dieser Instanz.",
    backUp: "Jetzt sichern",
  },
  history: {
    title: "Verlauf",
    description:
      "Sicherungen, Wiederherstellungstests, Wiederherstellungen, Klone und alle anderen Vorgänge dieser Instanz, neueste zuerst.",
  },
  interrupt: {
    stop: {
      title: (name) => `${name} stoppen?`,
      confirm: "Stoppen",
      effect: "Bis zum nächsten Start kann sich niemand anmelden. Es gehen keine Daten verloren.",
    },
    restart: {
      title: (name) => `${name} neu starten?`,
      confirm: "Neu starten",
      effect: "Alle Benutzer werden kurz getrennt und verlieren nicht gespeicherte Änderungen.",
    },
  },
  bulk: {
    start: {
      verb: "Starten",
      running: "Werden gestartet",
      done: "Gestartet",
      effect: "Innerhalb einer Minute ist die Anmeldung wieder möglich.",
    },
    stop: {
      verb: "Stoppen",
      running: "Werden gestoppt",
      done: "Gestoppt",
      effect: "Bis zum nächsten Start kann sich niemand anmelden. Es gehen keine Daten verloren.",
    },
    restart: {
      verb: "Neu starten",
      running: "Werden neu gestartet",
      done: "Neu gestartet",
      effect: "Alle Benutzer werden kurz getrennt und verlieren nicht gespeicherte Änderungen.",
    },
    backup: {
      verb: "Sichern",
      running: "Werden gesichert",
      done: "Gesichert",
      effect: "Jede Instanz läuft während ihrer Sicherung weiter.",
    },
  },
  edit: {
    title: (name) => `${name} bearbeiten`,
    save: "Speichern",
    saved: (name) => `Instanz geändert: ${name}`,
    adminEmailAbout: "Anmeldename neuer Klone. Der Anmeldename dieser Instanz bleibt gleich.",
  },
  changeDomain: {
    title: (name) => `Domain von ${name} ändern`,
    change: "Domain ändern",
    first: (domain) =>
      `Zuerst den DNS-Eintrag der neuen Domain anlegen. ${domain} funktioniert bis zum Wechsel weiter; danach kann ihr Eintrag entfernt werden.`,
    newDomain: "Neue Domain",
    same: "ist schon die Domain dieser Instanz",
  },
  delete: {
    title: "Instanz löschen",
    about: (domain) =>
      `Datenbank und Dateien werden endgültig gelöscht, und ${domain} ist nicht mehr erreichbar. Die Sicherungen bleiben erhalten; daraus lässt sich eine neue Instanz klonen.`,
    recordOnly: (server, status) =>
      `Der Server ${server} hat den Status „${status}“, daher wird nur der Eintrag entfernt. Die Daten auf dem Rechner bleiben erhalten.`,
  },
  form: {
    chooseServer: "Einen aktiven Server wählen",
    installing: (name) => `${name} wird installiert`,
    login: "Anmeldename",
  },
  create: {
    title: "Instanz anlegen",
    needsServer: "Instanzen laufen auf einem aktiven Server.",
    domainAbout: "Unter dieser Adresse ist die Instanz erreichbar. Der nötige DNS-Eintrag wird danach angezeigt.",
    databaseNameHint: "Kleinbuchstaben, Ziffern und Unterstriche; beginnt mit einem Buchstaben. Lässt sich später nicht ändern.",
    adminEmailAbout: "Damit meldet sich der Admin bei Odoo an.",
    chooseVersion: "Eine Version wählen",
    deprecated: "veraltet",
    deprecatedAbout: "Die Unterstützung endet bald. Wenn möglich, eine neuere Version wählen.",
    editions: {
      community: { label: "Community", description: "Kostenlos und quelloffen." },
      enterprise: { label: "Enterprise", description: "Erfordert ein Odoo-Enterprise-Abonnement." },
    },
    beginsWith: (instance, time) =>
      `Beginnt mit der ${instance === null ? "hochgeladenen Sicherung" : `Sicherung von ${instance}`}, ${time}`,
    odoo: (version) => `Odoo ${version}.`,
    keepsUuid: "Die Datenbank behält ihre UUID.",
    neutralize: "Neutralisieren",
    neutralizeOn:
      "Geplante Aktionen, E-Mails und Zahlungen werden abgeschaltet, damit Tests keine echten Kunden erreichen. Die Benutzer brauchen neue Passwörter.",
    neutralizeOff:
      "Geplante Aktionen, E-Mails und Zahlungen laufen von da an hier: zuerst das Original stoppen. Die Benutzer behalten ihre Passwörter, außer dem Admin.",
  },
  clone: {
    title: "Klonen",
    titleOf: (name) => `${name} klonen`,
    create: "Klon anlegen",
    noBackups: "Keine abgeschlossenen Sicherungen",
    noBackupsAbout: "Ein Klon entsteht aus einer Sicherung. Diese Instanz bitte zuerst sichern.",
    viewInstance: "Instanz ansehen",
    sameServer: "Gleicher Server",
    deletedServer: "Die ursprüngliche Instanz wurde gelöscht, daher muss ein Server gewählt werden.",
    backup: "Sicherung",
    backups: "Sicherungen",
    backupAbout: "Der Klon beginnt mit den Daten und der Odoo-Version dieser Sicherung.",
    chooseBackup: "Eine Sicherung wählen",
    domainAbout: "Der Klon braucht eine eigene Domain. Der nötige DNS-Eintrag wird danach angezeigt.",
    parts: "Was kopiert wird",
    database: "Datenbank",
    databaseAbout: "Ohne sie beginnt der Klon mit einer leeren Datenbank.",
    files: "Dateien",
    filesAbout: "Anhänge, Bilder und Dokumente.",
    neutralize: "Neutralisieren (empfohlen)",
    neutralizeAbout: "Schaltet im Klon geplante Aktionen, E-Mails und Zahlungen ab, damit Tests keine echten Kunden erreichen.",
    notNeutralized:
      "Der Klon verschickt E-Mails, führt geplante Aktionen aus und nimmt Zahlungen an wie das Original. Nur verwenden, um das Original zu ersetzen.",
    resetUsers: "Benutzer zurücksetzen",
    resetUsersAbout:
      "Alle außer dem Admin brauchen im Klon ein neues Passwort. Ihre Sitzungen und API-Schlüssel gelten dort nicht mehr.",
    more: "Weitere Optionen",
    generated: "Wird aus dem Namen erzeugt",
    databaseNameHint: "Kleinbuchstaben, Ziffern und Unterstriche. Beginnt mit einem Buchstaben.",
  },
};
