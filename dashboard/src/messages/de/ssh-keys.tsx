// SSH keys.
import type { sshKeys as en } from "../en/ssh-keys.tsx";

export const sshKeys: typeof en = {
  title: "SSH-Schlüssel",
  about: "Öffentliche Schlüssel, die auf neuen Servern installiert werden, damit Sie sich dort über SSH anmelden können.",
  empty: "Noch keine SSH-Schlüssel. Sie brauchen einen, um einen Server anzulegen.",
  add: "SSH-Schlüssel hinzufügen",
  added: (name) => `SSH-Schlüssel hinzugefügt: ${name}`,
  columns: {
    name: "Name",
    fingerprint: "Fingerabdruck",
    type: "Typ",
    added: "Hinzugefügt",
  },
  actionsOf: (name) => `Aktionen: ${name}`,
  filters: {
    added: { from: "Hinzugefügt ab", to: "Hinzugefügt bis" },
    placeholder: "Name oder Fingerabdruck",
    labels: { type: "Nach Typ filtern" },
    any: { type: "Jeder Typ" },
  },
  fingerprintOf: (name) => `Fingerabdruck von ${name}`,
  form: {
    name: "Name",
    namePlaceholder: "Admin-Laptop",
    key: "Öffentlicher Schlüssel",
    keyAbout: "Der Inhalt Ihrer .pub-Datei. Er ist nicht geheim.",
    keyHint: "OpenSSH-Format: Ed25519 oder ECDSA, auch auf einem Sicherheitsschlüssel (sk-…), oder RSA (ab 2048 Bit).",
    keyPlaceholder: "ssh-ed25519 AAAA… name@laptop",
    privateKey:
      "Das sieht nach einem privaten Schlüssel aus. Fügen Sie den öffentlichen Schlüssel ein (die .pub-Datei), und halten Sie den privaten geheim",
  },
  field: {
    label: "SSH-Schlüssel",
    about: "Damit haben Sie Zugang über SSH. Der Dienst verwendet einen eigenen Schlüssel.",
    placeholder: "Schlüssel auswählen",
    plural: "Schlüssel",
    empty: "Noch keine Schlüssel",
  },
  deletion: {
    delete: "Löschen",
    title: (name) => `SSH-Schlüssel ${name} löschen`,
    confirm: "Schlüssel löschen",
    deleted: (name) => `SSH-Schlüssel gelöscht: ${name}`,
    about: (name) => (
      <>
        <strong>{name}</strong> steht für neue Server nicht mehr zur Verfügung. Vorhandene Server behalten ihn. Um dort den Zugang
        zu entziehen, entfernen Sie ihn auf jedem Server aus authorized_keys.
      </>
    ),
  },
};
