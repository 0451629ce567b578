// The people of the account.
import type { people as en } from "../en/people.tsx";

export const people: typeof en = {
  title: "Personen",
  about: "Wer sich bei diesem Konto anmelden kann und was jede Person darf.",
  empty: "Keine Personen.",
  columns: { name: "Name", role: "Rolle", lastSignIn: "Letzte Anmeldung", added: "Hinzugefügt" },
  actionsOf: (name) => `Aktionen: ${name}`,
  filters: {
    added: { from: "Hinzugefügt ab", to: "Hinzugefügt bis" },
    placeholder: "Name oder E-Mail-Adresse",
    labels: {
      role: "Nach Rolle filtern",
      factors: "Nach zweiten Faktoren filtern",
      older: "Nach letzter Anmeldung filtern",
    },
    any: { role: "Jede Rolle", factors: "Alle zweiten Faktoren", older: "Jede letzte Anmeldung" },
    factors: { with: "Mit zweitem Faktor", without: "Ohne zweiten Faktor" },
    unused: { "30": "Seit 30 Tagen nicht angemeldet", "90": "Seit 90 Tagen nicht angemeldet", never: "Noch nie angemeldet" },
  },
  never: "Nie",
  you: "Sie",
  bouncing: "Postfach nimmt keine E-Mails an",
  sso: "Meldet sich mit Single Sign-on an",
  roles: {
    owner: { name: "Inhaber", about: "Darf alles, auch Inhaber ändern und entfernen." },
    admin: {
      name: "Administrator",
      about: "Darf alles, außer Inhaber und Single Sign-on ändern: auch Einstellungen, Personen und API-Schlüssel.",
    },
    operator: {
      name: "Betreuer",
      about:
        "Darf Server, Instanzen und Sicherungen anlegen, ändern, wiederherstellen und löschen. Darf Einstellungen und Personen ansehen, aber nicht ändern.",
    },
    viewer: { name: "Betrachter", about: "Darf alles ansehen und nichts ändern. Darf keine Sicherungen herunterladen." },
    custom: { name: "Eigene Auswahl", about: "Darf, was Sie auswählen." },
  },
  role: {
    title: (name) => `Rolle von ${name} ändern`,
    action: "Rolle ändern",
    label: "Rolle",
    onlyOwners: "Nur ein Inhaber kann jemanden zum Inhaber machen.",
    save: "Rolle ändern",
    saved: (name) => `Rolle geändert: ${name}`,
    permissions: "Berechtigungen",
  },
  invite: {
    title: "Einladen",
    submit: "Einladung senden",
    email: "E-Mail",
    emailAbout: "Die Person erhält einen Link, der 7 Tage gilt, und wählt ein Passwort.",
    sent: (email) => `Einladung gesendet an ${email}`,
  },
  invitations: {
    title: "Einladungen",
    about: "Gesendet und noch nicht angenommen.",
    empty: "Keine offenen Einladungen.",
    email: "E-Mail",
    by: "Eingeladen von",
    expires: "Gültig bis",
    filters: {
      placeholder: "E-Mail-Adresse oder Name",
      sent: { from: "Gesendet ab", to: "Gesendet bis" },
      labels: { role: "Nach Rolle filtern" },
      any: { role: "Jede Rolle" },
    },
    resend: "Erneut senden",
    notSent: (email) => `Die Einladung an ${email} konnte nicht gesendet werden`,
    withdraw: "Zurückziehen",
    withdrawTitle: (email) => `Einladung an ${email} zurückziehen`,
    withdrawn: (email) => `Einladung zurückgezogen: ${email}`,
    withdrawAbout: (email) => `Der Link, der an ${email} gesendet wurde, funktioniert sofort nicht mehr.`,
  },
  factors: {
    action: "Zweite Faktoren entfernen",
    title: (name) => `Zweite Faktoren von ${name} entfernen`,
    about: (name, email) => (
      <>
        Alle Passkeys, die Authenticator-App und die Wiederherstellungscodes von <strong>{name}</strong> ({email}) werden
        entfernt. Das Passwort allein genügt dann wieder. Sie beide erhalten eine E-Mail.
      </>
    ),
    onlyIf: "Vergewissern Sie sich, dass die Person Sie wirklich selbst darum gebeten hat.",
    removed: (name) => `Zweite Faktoren entfernt: ${name}`,
    has: (passkeys, hasApp) =>
      [passkeys === 0 ? "" : passkeys === 1 ? "1 Passkey" : `${passkeys} Passkeys`, hasApp ? "Authenticator-App" : ""]
        .filter((each) => each !== "")
        .join(", "),
  },
  removal: {
    action: "Entfernen",
    title: (name) => `${name} aus dem Konto entfernen`,
    confirm: "Entfernen",
    removed: (name) => `Aus dem Konto entfernt: ${name}`,
    about: (name, email) => (
      <>
        <strong>{name}</strong> ({email}) wird sofort überall abgemeldet und kann sich nicht mehr anmelden.
      </>
    ),
    comesBack:
      "Solange Ihr Identitätsanbieter die Person kennt, kann sie dem Konto mit Single Sign-on wieder beitreten. Entfernen Sie sie auch dort.",
    revoke: "Auch die von der Person angelegten API-Schlüssel widerrufen",
    revokeAbout: "Sonst funktionieren diese Schlüssel weiter: Sie gehören dem Konto.",
    keptKeys: (keys) => `Von der Person angelegte API-Schlüssel funktionieren weiter: ${keys.join(", ")}`,
    revokedKeys: (keys) => `Widerrufene API-Schlüssel: ${keys.join(", ")}`,
  },
};
