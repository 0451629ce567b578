// The sign-in page.
import type { login as en } from "../en/login.tsx";

export const login: typeof en = {
  title: "Anmelden",
  email: "E-Mail-Adresse",
  password: "Passwort",
  noEmail: "Die E-Mail-Adresse fehlt.",
  noPassword: "Das Passwort fehlt.",
  signIn: "Anmelden",
  wrong: "E-Mail-Adresse oder Passwort ist falsch.",
  locked: {
    title: "Zu viele Fehlversuche",
    text: (time) => <>Der nächste Versuch ist in {time} möglich.</>,
  },
  endings: {
    "logged-out": "Die Abmeldung war erfolgreich.",
    "logged-out-here":
      "In diesem Browser ist die Sitzung beendet. Der Dienst war nicht erreichbar; dort läuft sie spätestens in 12 Stunden ab.",
    ended: "Die Sitzung wurde beendet. Nach der Anmeldung geht es an derselben Stelle weiter.",
    expired: "Die Sitzung ist abgelaufen. Nach der Anmeldung geht es an derselben Stelle weiter.",
  },
};
