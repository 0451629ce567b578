// What every page has: errors, the strip of the sandbox, and the title in the browser's tab.
import type { app as en } from "../en/app.tsx";
import { problems, words } from "./problems.ts";

export const app: typeof en = {
  problems,
  words,
  product: "ERP control plane",
  home: "Übersicht",
  permissions: {
    close: "Schließen",
    names: {
      "servers:read": "Server ansehen",
      "servers:write": "Server anlegen, ändern, löschen",
      "instances:read": "Instanzen ansehen",
      "instances:write": "Instanzen anlegen, ändern, löschen",
      "instances:actions": "Instanzen starten, stoppen, neu starten",
      "backups:read": "Sicherungen ansehen",
      "backups:write": "Sicherungen anlegen, löschen",
      "backups:restore": "Sicherungen wiederherstellen",
      "settings:read": "Kontoeinstellungen ansehen",
      "settings:write": "Kontoeinstellungen ändern",
    },
  },
  missing: {
    title: "Berechtigung fehlt",
    permission: (name, permission) =>
      `Dafür ist die Berechtigung „${name}“ (${permission}) nötig. Ein Inhaber oder Administrator dieses Kontos kann sie Ihnen geben.`,
    admin:
      "Dafür ist die Rolle „Inhaber“ oder „Administrator“ nötig. Ein Inhaber oder Administrator dieses Kontos kann sie Ihnen geben.",
    owner: "Dafür ist die Rolle „Inhaber“ nötig. Nur ein Inhaber dieses Kontos kann sie Ihnen geben.",
    people: "Personen anzeigen",
    leftOut: "Einige Aktionen werden nicht angezeigt",
  },
  noPasskeys: {
    notHere: (address) => `An einer IP-Adresse bieten Browser keine Passkeys an. Öffnen Sie das Dashboard unter ${address}.`,
    atAddress: "An einer IP-Adresse bieten Browser keine Passkeys an. Öffnen Sie das Dashboard unter seinem Namen.",
    notSupported: "Dieser Browser kennt keine Passkeys.",
  },
  support: "Support kontaktieren",
  newTab: "Wird in einem neuen Tab geöffnet",
  testTitle: (title) => `TEST: ${title}`,
  environment: {
    label: "Umgebung",
    test: "TEST",
    sandbox: "Sandbox. Server, Instanzen und Sicherungen sind hier simuliert und kostenlos.",
    sandboxInShort: "Sandbox: simuliert und kostenlos.",
  },
  failure: {
    tryAgain: "Erneut versuchen",
    retryingIn: (time) => <>Neuer Versuch in {time}.</>,
    requestId: (id) => `Anfrage-ID: ${id}`,
    unknown: { title: "Es ist ein Fehler aufgetreten", text: "Laden Sie die Seite neu und versuchen Sie es erneut." },
    bug: {
      title: "Es ist ein Fehler aufgetreten",
      text: "Der Fehler liegt bei uns. Ihre Änderungen sind gespeichert. Laden Sie die Seite neu, um fortzufahren.",
    },
    network: { title: "Der Dienst ist nicht erreichbar", text: "Prüfen Sie Ihre Verbindung und versuchen Sie es erneut." },
    offline: "Sie sind offline",
    reconnecting: "Diese Seite zeigt den zuletzt geladenen Stand und lädt weiter, sobald der Dienst antwortet.",
    waiting: "Noch nicht geladen",
    limit: { title: "Zu viele Anfragen", text: (time) => `Sie können es in ${time} erneut versuchen.` },
    service: "Bei uns ist ein Fehler aufgetreten",
    missing: { title: "Nicht gefunden", text: "Das Element wurde gelöscht oder der Link ist falsch." },
    rejected: "Die Aktion konnte nicht ausgeführt werden",
    changed: {
      title: "Inzwischen von jemand anderem geändert",
      text: "Schließen Sie dieses Formular, sehen Sie sich die Änderung an und bearbeiten Sie erneut.",
    },
  },
  span: {
    hours: (hours, minutes) => `${hours} h ${minutes} min`,
    minutes: (minutes) => `${minutes} min`,
    seconds: (seconds) => `${seconds} s`,
  },
};
