// The people of the account.
import type { ReactNode } from "react";

export const people = {
  title: "People",
  about: "Who can sign in to this account, and what they may do.",
  empty: "No people.",
  columns: { name: "Name", role: "Role", lastSignIn: "Last sign-in", added: "Added" },
  actionsOf: (name: string) => `Actions on ${name}`,
  filters: {
    added: { from: "Added from", to: "Added until" },
    placeholder: "Name or email",
    labels: { role: "Filter by role", factors: "Filter by second factors", older: "Filter by last sign-in" },
    any: { role: "Any role", factors: "Any second factors", older: "Any last sign-in" },
    factors: { with: "With a second factor", without: "Without a second factor" },
    unused: { "30": "No sign-in for 30 days", "90": "No sign-in for 90 days", never: "Never signed in" },
  },
  never: "Never",
  you: "You",
  bouncing: "Mailbox takes no mail",
  sso: "Signs in with single sign-on",
  roles: {
    owner: { name: "Owner", about: "Can do everything, also change and remove owners." },
    admin: {
      name: "Admin",
      about: "Can do everything except change owners and single sign-on: also settings, people and API keys.",
    },
    operator: {
      name: "Operator",
      about:
        "Can create, change, restore and delete servers, instances and backups. Can see settings and people, but not change them.",
    },
    viewer: { name: "Viewer", about: "Can see everything, and change nothing. Can't download backups." },
    custom: { name: "Custom", about: "Can do what you choose." },
  },
  role: {
    title: (name: string) => `Change role of ${name}`,
    action: "Change role",
    label: "Role",
    onlyOwners: "Only an owner can make somebody an owner.",
    save: "Change role",
    saved: (name: string) => `Role changed: ${name}`,
    permissions: "Permissions",
  },
  invite: {
    title: "Invite",
    submit: "Send invitation",
    email: "Email",
    emailAbout: "They get a link that is valid for 7 days, and choose a password.",
    sent: (email: string) => `Invitation sent to ${email}`,
  },
  invitations: {
    title: "Invitations",
    about: "Sent, and not accepted yet.",
    empty: "No open invitations.",
    email: "Email",
    by: "Invited by",
    expires: "Expires",
    filters: {
      placeholder: "Email or name",
      sent: { from: "Sent from", to: "Sent until" },
      labels: { role: "Filter by role" },
      any: { role: "Any role" },
    },
    resend: "Send again",
    notSent: (email: string) => `Couldn't send the invitation to ${email}`,
    withdraw: "Withdraw",
    withdrawTitle: (email: string) => `Withdraw invitation to ${email}`,
    withdrawn: (email: string) => `Invitation withdrawn: ${email}`,
    withdrawAbout: (email: string) => `The link that was sent to ${email} stops working at once.`,
  },
  factors: {
    action: "Remove second factors",
    title: (name: string) => `Remove second factors of ${name}`,
    about: (name: string, email: string): ReactNode => (
      <>
        All passkeys, the authenticator app and the recovery codes of <strong>{name}</strong> ({email}) are removed. Their
        password alone signs in again. You both get a mail.
      </>
    ),
    onlyIf: "Make sure that it is really them who have asked you to.",
    removed: (name: string) => `Second factors removed: ${name}`,
    has: (passkeys: number, hasApp: boolean) =>
      [passkeys === 0 ? "" : passkeys === 1 ? "1 passkey" : `${passkeys} passkeys`, hasApp ? "authenticator app" : ""]
        .filter((each) => each !== "")
        .join(", "),
  },
  removal: {
    action: "Remove",
    title: (name: string) => `Remove ${name} from account`,
    confirm: "Remove",
    removed: (name: string) => `Removed from account: ${name}`,
    about: (name: string, email: string): ReactNode => (
      <>
        <strong>{name}</strong> ({email}) is signed out everywhere at once, and can't sign in any more.
      </>
    ),
    comesBack: "As long as your identity provider knows them, single sign-on lets them join again. Remove them there, too.",
    revoke: "Revoke the API keys that they created, too",
    revokeAbout: "Otherwise those keys keep working: they belong to the account.",
    keptKeys: (keys: readonly string[]) => `API keys that they created keep working: ${keys.join(", ")}`,
    revokedKeys: (keys: readonly string[]) => `Revoked API keys: ${keys.join(", ")}`,
  },
};
