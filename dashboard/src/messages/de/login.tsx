// The sign-in page.
import type { login as en } from "../en/login.tsx";

export const login: typeof en = {
  title: "Anmelden",
  email: "E-Mail-Adresse",
  password: "Passwort",
  noEmail: "Geben Sie Ihre E-Mail-Adresse ein.",
  noPassword: "Geben Sie Ihr Passwort ein.",
  signIn: "Anmelden",
  wrong: "E-Mail-Adresse oder Passwort ist falsch.",
  locked: {
    title: "Zu viele Fehlversuche",
    text: (time) => <>Sie können es in {time} erneut versuchen.</>,
  },
  endings: {
    "logged-out": "Sie haben sich abgemeldet.",
    "logged-out-here":
      "Sie haben sich in diesem Browser abgemeldet. Der Dienst war nicht erreichbar; dort läuft Ihre Sitzung spätestens in 12 Stunden ab.",
    ended: "Ihre Sitzung wurde beendet. Melden Sie sich an, um dort weiterzumachen, wo Sie aufgehört haben.",
    expired: "Ihre Sitzung ist abgelaufen. Melden Sie sich an, um dort weiterzumachen, wo Sie aufgehört haben.",
  },
};
