// The people of the account.
import type { people as en } from "../en/people.tsx";

export const people: typeof en = {
  title: "Personen",
  about: "Wer sich bei diesem Konto anmelden kann und was jede Person darf.",
  empty: "Keine Personen.",
  columns: { name: "Name", role: "Rolle", lastSignIn: "Letzte Anmeldung", added: "Hinzugefügt" },
  never: "Nie",
  you: "Sie",
  bouncing: "Postfach nimmt keine E-Mails an",
  roles: {
    owner: { name: "Inhaber", about: "Darf alles, auch Inhaber ändern und entfernen." },
    admin: {
      name: "Administrator",
      about: "Darf alles, außer Inhaber ändern: auch Einstellungen, Personen und API-Schlüssel.",
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
    resend: "Erneut senden",
    notSent: (email) => `Die Einladung an ${email} konnte nicht gesendet werden`,
    withdraw: "Zurückziehen",
    withdrawTitle: "Einladung zurückziehen",
    withdrawn: (email) => `Einladung zurückgezogen: ${email}`,
    withdrawAbout: (email) => `Der Link, der an ${email} gesendet wurde, funktioniert sofort nicht mehr.`,
  },
  removal: {
    action: "Entfernen",
    title: "Aus dem Konto entfernen",
    confirm: "Entfernen",
    removed: (name) => `Aus dem Konto entfernt: ${name}`,
    about: (name, email) => (
      <>
        <strong>{name}</strong> ({email}) wird sofort überall abgemeldet und kann sich nicht mehr anmelden.
      </>
    ),
    revoke: "Auch die von der Person angelegten API-Schlüssel widerrufen",
    revokeAbout: "Sonst funktionieren diese Schlüssel weiter: Sie gehören dem Konto.",
    kept: (keys) => `Von der Person angelegte API-Schlüssel funktionieren weiter: ${keys.join(", ")}`,
    revoked: (keys) => `Widerrufene API-Schlüssel: ${keys.join(", ")}`,
  },
};
