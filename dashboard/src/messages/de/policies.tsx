// Backup policies: their form, and what they do, in words.
import type { KeepRule } from "../../../../shared/domain/retention.ts";
import type { policies as en } from "../en/policies.tsx";

const OUTCOMES: Readonly<Record<string, string | undefined>> = {
  completed: "Abgeschlossen",
  failed: "Fehlgeschlagen",
  skipped: "Ausgelassen",
};

/** "Of the last day", and the days of "of the last 7 days". */
const DAYS = {
  one: "",
  both: ", an Tagen, auf die sowohl der Tag des Monats als auch der Wochentag passt",
  either: ", an Tagen, auf die der Tag des Monats oder der Wochentag passt",
};

const UNITS: Record<Exclude<KeepRule, "last">, readonly [string, string]> = {
  hourly: ["der letzten Stunde", "Stunden"],
  daily: ["des letzten Tages", "Tage"],
  weekly: ["der letzten Woche", "Wochen"],
  monthly: ["des letzten Monats", "Monate"],
  yearly: ["des letzten Jahres", "Jahre"],
};

export const policies: typeof en = {
  protection: {
    title: "Schutz",
    setUp: "Automatische Sicherungen einrichten",
    edit: "Plan bearbeiten",
    delete: "Plan löschen",
    deleteTitle: (instance) => `Sicherungsplan von ${instance} löschen`,
    deleteAbout: "Die Instanz wird dann nicht mehr automatisch gesichert. Die vorhandenen Sicherungen bleiben erhalten.",
    none: "Diese Instanz wird nicht automatisch gesichert. Ein Sicherungsplan sichert sie regelmäßig und entfernt alte Sicherungen.",
    status: "Status",
    last: "Letzte Sicherung",
    noLast: "Noch keine",
    next: "Nächste Sicherung",
    noNext: "Keine geplant",
    nextRuns: "Danach",
    schedule: "Zeitplan",
    paused: (schedule) => `Pausiert. ${schedule}`,
    keeps: "Behält",
    drills: "Wiederherstellungstests",
    lastRun: "Letzte Ausführung",
    noLastRun: "Noch keine",
    run: (status, at, reason) => (
      <>
        {OUTCOMES[status] ?? status}, fällig {at}
        {reason !== null && `: ${reason}`}
      </>
    ),
  },
  form: {
    title: (instance) => `Sicherungsplan von ${instance}`,
    saved: (instance) => `Sicherungsplan gespeichert: ${instance}`,
    defaultTitle: "Standard-Sicherungsplan",
    defaultSaved: "Standard-Sicherungsplan gespeichert",
    save: "Plan speichern",
    schedule: "Sichern",
    presets: { daily: "Täglich", four: "Viermal täglich: 00:00, 06:00, 12:00, 18:00 Uhr", custom: "Eigener Zeitplan" },
    time: "Uhrzeit",
    timeHint: "Im 24-Stunden-Format, zum Beispiel 02:00. Die Sicherung beginnt innerhalb von 15 Minuten.",
    timeWrong: "Geben Sie eine Uhrzeit wie 02:00 ein.",
    cron: "Cron-Ausdruck",
    zone: "Zeitzone",
    keep: "Aufbewahren",
    keepAbout: (rules) => `${rules}.`,
    rules: {
      last: "Neueste",
      hourly: "Stunden",
      daily: "Tage",
      weekly: "Wochen",
      monthly: "Monate",
      yearly: "Jahre",
    },
    neverRemoved: "Ein Plan entfernt nie gesperrte Sicherungen, manuelle Sicherungen oder die neueste abgeschlossene Sicherung.",
    drills: "Abstand der Wiederherstellungstests (Tage)",
    drillsAbout:
      "Stellt die neueste Sicherung in einer temporären Datenbank wieder her und prüft diese. Die Instanz bleibt unberührt. " +
      "Jeder Test lädt das ganze Archiv der Sicherung auf den Server.",
    drillsHint: "1 bis 90.",
    enabled: "Aktiv",
  },
  schedule: {
    daily: (time, zone) => `Täglich um ${time} Uhr (${zone})`,
    four: (zone) => `Viermal täglich, ab Mitternacht (${zone})`,
    cron: (expression, zone, days) => `Cron-Ausdruck ${expression} (${zone})${DAYS[days]}`,
  },
  /** "Die 3 neuesten Sicherungen und die jeweils neueste der letzten 7 Tage, 4 Wochen und des letzten Jahres". */
  keeps(last, periods) {
    const newest = last === 0 ? [] : [last === 1 ? "die neueste Sicherung" : `die ${last} neuesten Sicherungen`];
    const units = periods.map(({ unit, count }, index) => {
      const [one, many] = UNITS[unit];
      if (count === 1) return one;
      return `${(periods[index - 1]?.count ?? 1) > 1 ? "" : "der letzten "}${count} ${many}`;
    });
    const each = units.length === 0 ? [] : [`die jeweils neueste ${new Intl.ListFormat("de").format(units)}`];
    const words = [...newest, ...each].join(" und ");
    return words === "" ? "Nichts" : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  },
  drills: (days) => (days === null ? "Keine" : days === 1 ? "Täglich" : `Alle ${days} Tage`),
};
