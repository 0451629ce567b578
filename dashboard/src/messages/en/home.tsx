// The home page.
import type { ReactNode } from "react";

export const home = {
  title: "Home",
  servers: "Servers",
  instances: "Instances",
  backups: "Backups",
  /** For screen readers: "3 running instances". */
  counted: (number: number, status: string, title: string) =>
    `${number} ${status} ${number === 1 ? title.replace(/s$/, "") : title}`.toLowerCase(),
  countedInProgress: (number: number, title: string) =>
    `${number} ${number === 1 ? title.replace(/s$/, "") : title} in progress`.toLowerCase(),
  inProgress: "In progress",
  nothingInProgress: "Nothing in progress.",
  startedBy: (name: string, time: ReactNode) => (
    <>
      Started by {name} {time}
    </>
  ),
  protection: "Protection",
  lowDisks: {
    almostFull: (servers: number) =>
      servers === 1 ? "A server's disk is almost full" : `The disks of ${servers} servers are almost full`,
    almostFullAbout:
      "Less than 5% is free: backups and restores fail, and instances may be paused. Delete instances you no longer need.",
    low: (servers: number) => (servers === 1 ? "A server is low on disk space" : `${servers} servers are low on disk space`),
    lowAbout: "Less than 15% is free. Backups and restores may fail soon.",
    view: "View servers",
  },
  failures: "Recent failures",
  noFailures: (days: number) => `No failures in the last ${days} days.`,
  firstSteps: {
    title: "Launch and protect your first instance in four steps",
    done: "Done",
    key: {
      title: "1. Add your SSH key",
      text: "Lets you log in to your servers over SSH. Paste your public key only, here or while you create a server.",
      button: "Add SSH key",
    },
    server: {
      title: "2. Create a server",
      text: "A machine at a provider of your choice, where your instances run.",
      button: "Create server",
      view: "View servers",
      inProgress: "Your server is being created. This takes a few minutes.",
      offline: "Your server is offline. Open it to see why.",
    },
    instance: {
      title: "3. Create an instance",
      text: "Odoo with its own database and domain, running on your server.",
      button: "Create instance",
    },
    policy: {
      title: "4. Protect it",
      text: "A backup policy backs it up every day and keeps as many backups as you choose.",
      button: "Set up automatic backups",
    },
  },
};
