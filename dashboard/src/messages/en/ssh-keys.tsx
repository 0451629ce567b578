// SSH keys.

export const sshKeys = {
  title: "SSH keys",
  about: "Public keys installed on new servers, so you can log in over SSH.",
  empty: "No SSH keys yet. You need one to create a server.",
  add: "Add SSH key",
  added: (name: string) => `SSH key added: ${name}`,
  columns: {
    name: "Name",
    fingerprint: "Fingerprint",
    type: "Type",
    added: "Added",
  },
  actionsOf: (name: string) => `Actions on ${name}`,
  filters: {
    added: { from: "Added from", to: "Added until" },
    placeholder: "Name or fingerprint",
    labels: { type: "Filter by type" },
    any: { type: "Any type" },
  },
  fingerprintOf: (name: string) => `fingerprint of ${name}`,
  form: {
    name: "Name",
    namePlaceholder: "Ops laptop",
    key: "Public key",
    keyAbout: "The contents of your .pub file. Safe to share.",
    keyHint: "OpenSSH format: Ed25519 or ECDSA, also on a security key (sk-…), or RSA (2048 bits or more).",
    keyPlaceholder: "ssh-ed25519 AAAA… you@laptop",
    privateKey: "looks like a private key. Paste the public key (the .pub file) and keep the private key secret",
  },
  field: {
    label: "SSH key",
    about: "Gives you SSH access. The service uses its own key.",
    placeholder: "Choose a key",
    /** The plural within sentences. */
    plural: "keys",
    empty: "No keys yet",
  },
  deletion: {
    delete: "Delete",
    title: (name: string) => `Delete SSH key ${name}`,
    confirm: "Delete key",
    deleted: (name: string) => `SSH key deleted: ${name}`,
    about: (name: string) => (
      <>
        <strong>{name}</strong> will no longer be available for new servers. Existing servers keep it. To revoke access, remove it
        from authorized_keys on each server.
      </>
    ),
  },
};
