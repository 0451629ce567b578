// The sign-in page.
import type { login as en } from "../en/login.tsx";

export const login: typeof en = {
  title: "Anmelden",
  email: "E-Mail-Adresse",
  password: "Passwort",
  noEmail: "Geben Sie Ihre E-Mail-Adresse ein.",
  noPassword: "Geben Sie Ihr Passwort ein.",
  forgotten: "Passwort vergessen?",
  back: "Zurück zur Anmeldung",
  links: {
    name: "Ihr Name",
    newPassword: "Neues Passwort",
    passwordHint: "12 bis 128 Zeichen und keines der häufigsten Passwörter.",
    required: "Das ist erforderlich.",
    accept: {
      title: "Einladung annehmen",
      about: "Wählen Sie einen Namen und ein Passwort, um dem Konto beizutreten.",
      submit: "Annehmen und anmelden",
    },
    forgot: {
      title: "Passwort vergessen",
      about: "Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort festlegen.",
      submit: "Link senden",
      sent: "Wenn es einen Benutzer mit dieser E-Mail-Adresse gibt, ist ein Link unterwegs. Er gilt 30 Minuten.",
    },
    reset: {
      title: "Neues Passwort festlegen",
      about: "Sie werden überall abgemeldet.",
      submit: "Passwort festlegen",
      done: "Ihr Passwort ist festgelegt. Sie können sich jetzt anmelden.",
    },
    invalid: "Dieser Link ist nicht gültig: Er wurde benutzt, ist abgelaufen, oder es wurde ein neuerer gesendet.",
    emailTaken:
      "Es gibt schon einen Benutzer mit dieser E-Mail-Adresse. Melden Sie sich an, oder bitten Sie um eine Einladung an eine andere Adresse.",
  },
  signIn: "Anmelden",
  withPasskey: "Mit Passkey anmelden",
  sso: {
    continue: "Weiter mit Single Sign-on",
    title: "Single Sign-on",
    finishing: "Sie werden angemeldet …",
    none: "Für diese E-Mail-Adresse gibt es kein Single Sign-on. Verwenden Sie Ihr Passwort, oder fragen Sie einen Inhaber Ihres Kontos.",
    elsewhere: "Single Sign-on funktioniert dort, wohin Ihr Identitätsanbieter Sie zurückschickt:",
    notSignedIn: "Ihr Identitätsanbieter hat Sie nicht angemeldet. Gehen Sie zurück und versuchen Sie es erneut.",
    invalid:
      "Diese Anmeldung ist nicht mehr gültig: Sie wurde benutzt, ist abgelaufen oder wurde woanders begonnen. Gehen Sie zurück und versuchen Sie es erneut.",
  },
  second: {
    title: "Zweiter Schritt",
    about: "Ihr Passwort stimmt. Bestätigen Sie jetzt, dass Sie es sind.",
    passkey: "Passkey verwenden",
    code: "Code aus Ihrer Authenticator-App",
    recoveryCode: "Wiederherstellungscode",
    noCode: "Geben Sie einen Code ein.",
    confirm: "Bestätigen",
    useRecoveryCode: "Wiederherstellungscode verwenden",
    useApp: "Authenticator-App verwenden",
    wrong: "Dieser Code oder Passkey ist nicht gültig: Er ist falsch oder wurde schon benutzt.",
    lost: "Wenn Sie alle verloren haben, bitten Sie einen Inhaber Ihres Kontos, sie zu entfernen.",
    back: "Von vorn beginnen",
    notUsed: "Der Browser hat keinen Passkey verwendet. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg.",
  },
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
