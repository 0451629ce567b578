// What every page has: errors, the strip of the sandbox, and the title in the browser's tab.
import type { ReactNode } from "react";
import { PERMISSIONS, type Permission } from "../../../../shared/api/permissions.ts";
import { problems, words } from "./problems.ts";

const permissions: Record<Permission, string> = PERMISSIONS;

export const app = {
  problems,
  words: words as Readonly<Record<keyof typeof words, string>>,
  product: "ERP control plane",
  home: "Home",
  permissions: { close: "Close", names: permissions },
  missing: {
    title: "Permission missing",
    permission: (name: string, permission: string) =>
      `This needs the permission “${name}” (${permission}). An owner or admin of this account can give it to you.`,
    admin: "This needs the role “Owner” or “Admin”. An owner or admin of this account can give it to you.",
    owner: "This needs the role “Owner”. Only an owner of this account can give it to you.",
    people: "Show people",
    leftOut: "Some actions are not shown",
  },
  noPasskeys: {
    notHere: (address: string) => `Browsers offer no passkeys at an IP address. Open the dashboard at ${address}.`,
    atAddress: "Browsers offer no passkeys at an IP address. Open the dashboard by its name.",
    notSupported: "This browser has no passkeys.",
  },
  support: "Get support",
  newTab: "Opens in a new tab",
  testTitle: (title: string) => `TEST: ${title}`,
  environment: {
    label: "Environment",
    test: "TEST",
    sandbox: "Sandbox. Servers, instances and backups here are simulated and free of charge.",
    /** The text for phones, in one line. */
    sandboxInShort: "Sandbox: simulated and free of charge.",
  },
  failure: {
    tryAgain: "Try again",
    retryingIn: (time: ReactNode) => <>Retrying in {time}.</>,
    requestId: (id: string) => `Request ID: ${id}`,
    unknown: { title: "Something went wrong", text: "Reload the page and try again." },
    bug: { title: "Something went wrong", text: "This is a bug on our side. Your changes are saved. Reload to continue." },
    network: { title: "Can't reach the service", text: "Check your connection and try again." },
    offline: "You're offline",
    reconnecting: "This page shows what was loaded last, and continues as soon as the service responds.",
    waiting: "Not loaded yet",
    limit: { title: "Too many requests", text: (time: string) => `You can try again in ${time}.` },
    service: "Something went wrong on our side",
    missing: { title: "Not found", text: "It was deleted, or the link is wrong." },
    rejected: "Couldn't complete this",
    changed: { title: "Changed by someone else meanwhile", text: "Close this form, look at the change, and edit again." },
  },
  span: {
    hours: (hours: number, minutes: number) => `${hours} h ${minutes} min`,
    minutes: (minutes: number) => `${minutes} min`,
    seconds: (seconds: number) => `${seconds} s`,
  },
};
