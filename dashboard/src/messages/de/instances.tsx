// Instances: their list, their page, its actions, and the forms that create and clone them.
import type { instances as en } from "../en/instances.tsx";

export const instances: typeof en = {
  title: "Instanzen",
  one: "Instanz",
  about: "Odoo-Instanzen auf Ihren Servern, jede mit eigener Datenbank, eigenen Dateien und eigener Domain.",
  empty: "Noch keine Instanzen.",
  fields: {
    name: "Name",
    nameHint: "Ein Anzeigename. Sie können ihn später ändern.",
    status: "Status",
    url: "URL",
    server: "Server",
    version: "Version",
    edition: "Edition",
    protection: "Schutz",
    domain: "Domain",
    databaseName: "Datenbankname",
    adminEmail: "Admin-E-Mail-Adresse",
    adminPassword: "Admin-Passwort",
    adminPasswordHint: "12 bis 128 Zeichen. Wenn Sie das Feld leer lassen, wird ein Passwort erzeugt und einmal angezeigt.",
    disk: "Speicherplatz",
    previousDomains: "Umgeleitete Domains",
    missingModules: "Module, die im Image des ERP fehlen",
    image: "Odoo-Image",
    diskQuota: "Speicherkontingent in GB",
    created: "Angelegt",
    lastBackup: "Letzte Sicherung",
    never: "Nie",
    createdFrom: "Angelegt aus",
    outgoing: "Verschickt E-Mails",
    id: "ID",
  },
  filters: {
    labels: {
      version: "Nach Version filtern",
      edition: "Nach Edition filtern",
      image: "Nach Image filtern",
      server: "Nach Server filtern",
      older: "Nach letzter Sicherung filtern",
      drill: "Nach Wiederherstellungstest filtern",
    },
    any: {
      version: "Jede Version",
      edition: "Jede Edition",
      image: "Jedes Image",
      server: "Jeder Server",
      older: "Jede letzte Sicherung",
      drill: "Jeder Test",
    },
    days: (days) => (days === 1 ? "Seit einem Tag ungesichert" : `Seit ${days} Tagen ungesichert`),
    drills: { passed: "Test bestanden", failed: "Test nicht bestanden" },
    images: { newer: "Update verfügbar", newest: "Neuestes Image" },
    plural: "Server",
    noServers: "Noch keine Server",
  },
  updateAvailable: "Update verfügbar",
  // The names are in the accusative: "Datenbanknamen kopieren".
  copied: {
    databaseName: "Datenbanknamen",
    adminEmail: "Admin-E-Mail-Adresse",
    adminPassword: "Admin-Passwort",
    login: "Anmeldenamen",
    id: "ID",
    recordType: "Typ des Eintrags",
    recordName: "Namen des Eintrags",
    recordValue: "Wert des Eintrags",
  },
  facts: {
    title: "Details",
    neutralization: "Neutralisierte Instanzen",
    neutralizationAbout:
      "Eine neutralisierte Instanz verschickt keine E-Mails, führt keine geplanten Aktionen aus und nimmt keine Zahlungen an. So erreichen Tests niemanden. Wählen Sie dazu beim Klonen oder Wiederherstellen „Neutralisieren“.",
    newerImage: "Update verfügbar",
    newestImage: "Das neueste seiner Version",
    off: "Nein (neutralisiert)",
    unchanged: "Ja",
    redirects: (domain, until) => (
      <>
        {domain} bis {until}
      </>
    ),
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
    description: "Legen Sie diesen Eintrag bei Ihrem Registrar oder DNS-Anbieter an.",
    about:
      "Er lässt die Domain auf Ihren Server zeigen. Unter anderen Namen ist die Instanz nicht erreichbar. Um eine andere Domain zu verwenden, wählen Sie unter „Aktionen“ den Punkt „Domain ändern“.",
    until:
      "Ohne diesen Eintrag ist die Instanz nicht erreichbar. Sobald er besteht, wird innerhalb weniger Minuten automatisch ein TLS-Zertifikat ausgestellt.",
    type: "Typ",
    name: "Name",
    value: "Wert",
    newDomain: "Die neue Domain",
    noAddress: "Die IP-Adresse des Servers steht noch nicht fest",
  },
  actions: {
    of: (name) => `Aktionen: ${name}`,
    policy: "Sicherungsplan",
    open: "Öffnen",
    openOf: (name) => `${name} öffnen (in einem neuen Tab)`,
    backUp: "Jetzt sichern",
    restore: "Wiederherstellen",
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
    createAgain: "Noch einmal anlegen",
    deleteFailed: "Instanz löschen",
  },
  backups: {
    empty: "Noch keine Sicherungen dieser Instanz.",
  },
  tabs: {
    label: (name) => `Bereiche von ${name}`,
    overview: "Übersicht",
    backups: "Sicherungen",
    code: "Code",
    metrics: "Messwerte",
    history: "Verlauf",
    logs: "Protokoll",
    settings: "Einstellungen",
  },
  settings: {
    diskQuota: "Speicherkontingent",
    noQuota: "Keines",
  },
  history: {
    title: "Verlauf",
    description:
      "Sicherungen, Wiederherstellungstests, Wiederherstellungen, Klone und alle anderen Vorgänge dieser Instanz, das Neueste zuerst.",
  },
  interrupt: {
    start: {
      title: (name) => `${name} starten`,
      confirm: "Starten",
      effect: "Die Benutzer können sich wieder anmelden, sobald sie läuft.",
    },
    stop: {
      title: (name) => `${name} stoppen`,
      confirm: "Stoppen",
      effect: "Die Benutzer können sich erst wieder anmelden, wenn Sie die Instanz starten. Es gehen keine Daten verloren.",
    },
    restart: {
      title: (name) => `${name} neu starten`,
      confirm: "Neu starten",
      effect: "Die Verbindung der Benutzer wird kurz unterbrochen; nicht gespeicherte Änderungen gehen verloren.",
    },
  },
  edit: {
    title: (name) => `${name} bearbeiten`,
    save: "Speichern",
    saved: (name) => `Instanz geändert: ${name}`,
    adminEmailAbout: "Wird als Anmeldename neuer Klone verwendet. Der Anmeldename dieser Instanz ändert sich nicht.",
    diskQuotaAbout:
      "Leer lassen für kein Kontingent. Eine Instanz über ihrem Kontingent zeigt eine Warnung und wird angehalten, wenn auf der Festplatte ihres Servers weniger als 5 % frei sind.",
    diskQuotaInvalid: "muss eine Anzahl von GB wie 20 sein",
  },
  changeDomain: {
    title: (name) => `Domain von ${name} ändern`,
    change: "Domain ändern",
    first: (domain) => `Legen Sie zuerst den DNS-Eintrag der neuen Domain an. ${domain} funktioniert bis zum Wechsel weiter.`,
    newDomain: "Neue Domain",
    same: "Diese Domain hat die Instanz bereits",
  },
  delete: {
    title: "Instanz löschen",
    titleOf: (name) => `Instanz ${name} löschen`,
    about: (domain) => `${domain} ist dann nicht mehr erreichbar. Das können Sie nicht rückgängig machen.`,
  },
  form: {
    chooseServer: "Aktiven Server auswählen",
    installing: (name) => `${name} wird installiert`,
    login: "Anmeldename",
  },
  create: {
    title: "Instanz anlegen",
    needsServer: "Instanzen laufen auf einem aktiven Server.",
    deletesFirst: (name) =>
      `${name}, deren Anlegen fehlschlug, wird zuerst gelöscht: Sie belegt diesen Namen, diese Domain und diese Datenbank.`,
    domainAbout: "Die Adresse, die Ihre Benutzer aufrufen. Den nötigen DNS-Eintrag erfahren Sie danach.",
    databaseNameHint:
      "Kleinbuchstaben, Ziffern und Unterstriche. Muss mit einem Buchstaben beginnen. Lässt sich später nicht ändern.",
    adminEmailAbout: "Mit dieser E-Mail-Adresse meldet sich der Admin bei Odoo an.",
    chooseVersion: "Version auswählen",
    follows: (version, server) => `Odoo ${version} wird auf ${server} installiert; das dauert einige Minuten.`,
    deprecated: "veraltet",
    deprecatedAbout: "Die Unterstützung endet bald. Wählen Sie möglichst eine neuere Version.",
    editions: {
      community: { label: "Community", description: "Kostenlos und Open Source." },
      enterprise: { label: "Enterprise", description: "Erfordert ein Odoo-Enterprise-Abonnement." },
    },
    beginsWith: ({ instance_name, file_name }, time) =>
      `Startet mit der ${instance_name === null ? ["hochgeladenen Sicherung", file_name ?? []].flat().join(" ") : `Sicherung von ${instance_name}`}, ${time}`,
    odoo: (version) => `Odoo ${version}`,
    keepsUuid: "Die Datenbank behält ihre UUID.",
    neutralize: "Neutralisieren",
    neutralizeOn:
      "Geplante Aktionen, E-Mails und Zahlungen werden abgeschaltet, damit Ihre Tests keine echten Kunden erreichen. Die Benutzer brauchen neue Passwörter.",
    neutralizeOff:
      "Geplante Aktionen, E-Mails und Zahlungen laufen dann hier. Stoppen Sie daher zuerst das Original. Außer dem Admin behalten alle Benutzer ihre Passwörter.",
  },
  missingFiles: {
    accept: "Ohne die fehlenden Dateien anlegen",
    about: (missing, listed) =>
      `${missing} der ${listed} Dateien, die in der Datenbank stehen, fehlen in der Sicherung: Dokumente, Bilder und Anhänge, die sich nicht öffnen lassen.`,
  },
  clone: {
    title: "Klonen",
    titleOf: (name) => `${name} klonen`,
    create: "Klon anlegen",
    restoreTitle: "In neuer Instanz wiederherstellen",
    restoreTitleOf: (name) => `${name} in neuer Instanz wiederherstellen`,
    restore: "In neuer Instanz wiederherstellen",
    noBackups: "Keine abgeschlossenen Sicherungen",
    noBackupsAbout: "Klone entstehen aus einer Sicherung. Sichern Sie zuerst diese Instanz.",
    viewInstance: "Instanz anzeigen",
    sameServer: "Gleicher Server",
    deletedServer: "Die ursprüngliche Instanz wurde gelöscht. Wählen Sie daher einen Server aus.",
    backup: "Sicherung",
    backups: "Sicherungen",
    backupAbout: "Die neue Instanz startet mit den Daten und der Odoo-Version dieser Sicherung.",
    chooseAgain:
      "Wählen Sie noch einmal, was kopiert wird und ob Benutzer zurückgesetzt werden: Was beim fehlgeschlagenen Versuch gewählt war, ist nicht gespeichert.",
    chooseBackup: "Sicherung auswählen",
    domainAbout: "Die neue Instanz braucht eine eigene Domain. Den nötigen DNS-Eintrag erfahren Sie danach.",
    parts: "Was kopiert wird",
    nothingToCopy: "Wählen Sie die Datenbank, die Dateien oder beides.",
    database: "Datenbank",
    databaseAbout: "Ohne diese Option startet die neue Instanz mit einer leeren Datenbank.",
    files: "Dateien",
    filesAbout: "Anhänge, Bilder und Dokumente.",
    neutralize: "Neutralisieren (empfohlen)",
    neutralizeAbout:
      "Schaltet in der neuen Instanz geplante Aktionen, E-Mails und Zahlungen ab, damit Ihre Tests keine echten Kunden erreichen.",
    notNeutralized:
      "Die neue Instanz verschickt E-Mails, führt geplante Aktionen aus und nimmt Zahlungen an wie das Original. Verwenden Sie dies nur, um das Original zu ersetzen.",
    resetUsers: "Benutzer zurücksetzen",
    resetUsersAbout:
      "Alle außer dem Admin brauchen in der neuen Instanz ein neues Passwort. Ihre Sitzungen und API-Schlüssel gelten dort nicht mehr.",
    generated: "Wird aus dem Namen erzeugt",
    databaseNameHint: "Kleinbuchstaben, Ziffern und Unterstriche. Muss mit einem Buchstaben beginnen.",
  },
};
