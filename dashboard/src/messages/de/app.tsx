// What every page has: errors, the strip of the sandbox, and the title in the browser's tab.
import type { app as en } from "../en/app.tsx";

export const app: typeof en = {
  product: "ERP control plane",
  home: "Übersicht",
  support: "Support kontaktieren",
  newTab: "Öffnet einen neuen Tab",
  testTitle: (title) => `TEST: ${title}`,
  environment: {
    label: "Umgebung",
    test: "TEST",
    sandbox: "Sandbox. Server, Instanzen und Sicherungen sind hier simuliert und kostenlos.",
  },
  failure: {
    tryAgain: "Erneut versuchen",
    retryingIn: (time) => <>Neuer Versuch in {time}.</>,
    requestId: (id) => `Anfrage-ID: ${id}`,
    unknown: { title: "Es ist ein Fehler aufgetreten", text: "Die Seite neu laden und erneut versuchen." },
    bug: {
      title: "Es ist ein Fehler aufgetreten",
      text: "Der Fehler liegt bei uns. Alle Änderungen sind gespeichert. Nach dem Neuladen geht es weiter.",
    },
    network: { title: "Der Dienst ist nicht erreichbar", text: "Die Verbindung prüfen und erneut versuchen." },
    limit: { title: "Zu viele Anfragen", text: (time) => `Der nächste Versuch ist in ${time} möglich.` },
    service: "Beim Dienst ist ein Fehler aufgetreten",
    missing: { title: "Nicht gefunden", text: "Der Eintrag wurde gelöscht, oder der Link stimmt nicht." },
    rejected: "Das konnte nicht ausgeführt werden",
  },
  span: {
    hours: (hours, minutes) => `${hours} h ${minutes} min`,
    minutes: (minutes) => `${minutes} min`,
    seconds: (seconds) => `${seconds} s`,
  },
};
