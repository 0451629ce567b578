// The home page.
import type { ReactNode } from "react";

export const home = {
  title: "Home",
  servers: "Servers",
  instances: "Instances",
  backups: "Backups",
  /** The text for screen readers: "1,300 running instances"; `digits` is the number as the page writes it. */
  counted: (number: number, digits: string, status: string, title: string) =>
    `${digits} ${status} ${number === 1 ? title.replace(/s$/, "") : title}`.toLowerCase(),
  countedInProgress: (number: number, digits: string, title: string) =>
    `${digits} ${number === 1 ? title.replace(/s$/, "") : title} in progress`.toLowerCase(),
  inProgress: "In progress",
  nothingInProgress: "Nothing in progress.",
  startedBy: (name: string, time: ReactNode) => (
    <>
      Started by {name} {time}
    </>
  ),
  protection: "Protection",
  worst: {
    title: "Most loaded",
    about: "The ten servers and instances that are loaded most, as their servers last reported.",
    partly: "The ten servers and instances that are loaded most. There are too many servers to compare the instances of all.",
    memory: "Memory of servers",
    disk: "Disk space of servers",
    times: "Response times of instances (95 of 100 requests)",
    none: "Nothing was reported lately.",
    percent: (value: number) => `${value}% in use`,
    milliseconds: (value: number) => `${value} ms`,
  },
  lowDisks: {
    title: "Disks that fill up",
    almostFull: "Almost full",
    almostFullAbout:
      "Less than 5% is free: backups and restores fail, and instances may be paused. Delete instances you no longer need.",
    low: "Low on space",
    lowAbout: "Less than 15% is free. Backups and restores may fail soon.",
  },
  needs: {
    title: "Needs you",
    nothing: "Nothing needs you.",
    offline: "Server offline",
    diskFull: "Disk almost full",
    overdue: "Backup overdue",
    lastBackup: (time: ReactNode) => <>Last backup: {time}</>,
    never: "never",
    backUp: "Back up now",
    backUpOf: (name: string) => `Back up ${name} now`,
    show: "Show",
    showOf: (name: string) => `Show ${name}`,
    /** What mends the cause of an alert, or where to look. */
    acts: {
      restart: "Restart",
      quota: "Edit details",
      reason: "Show",
      dns: "Show DNS record",
      charts: "Show metrics",
      log: "Show log",
    },
    actOn: (act: string, name: string) => `${act}: ${name}`,
    unprotected: (instances: number) =>
      instances === 1 ? "1 instance isn't protected by backups" : `${instances} instances aren't protected by backups`,
    protect: "Protect",
    updates: (instances: number) =>
      instances === 1 ? "1 instance can get a newer image" : `${instances} instances can get a newer image`,
    showUpdates: "Show instances",
    reboots: (servers: number) => (servers === 1 ? "1 server needs a reboot" : `${servers} servers need a reboot`),
    showReboots: "Show servers",
    keyExpires: (name: string, time: ReactNode) => (
      <>
        API key {name} expires {time}
      </>
    ),
    keys: "Show API keys",
    allOverdue: (instances: number) => `Show all ${instances} overdue backups`,
    allFailures: "Show all failed operations",
    allAlerts: "Show all open alerts",
  },
  nights: {
    title: "Backups of the last 7 days",
    about: "Every instance that was backed up, those with trouble first.",
    close: "Close the backups of the last 7 days",
    partly: (backups: string) => `The last ${backups} backups, the instances with trouble first.`,
    someOverdue: (instances: string) => `Overdue backups are shown for only ${instances} instances.`,
    instance: "Instance",
    last: "Last backup",
    drill: "Drill",
    size: "Size",
    none: "none",
    /** There may have been one before: the page has asked only for these days. */
    noneLately: "none in 7 days",
    unknown: "not known",
    all: (instances: number) => `Show all ${instances} instances`,
  },
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
