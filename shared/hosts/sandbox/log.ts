// What a simulated ERP, its database and its proxy log, in the formats of real ones: how they started, and each minute what they
// are asked for.
import { MINUTE_MS } from "../../domain/durations.ts";
import { isReached, type SandboxErp, type SandboxJob } from "../../providers/sandbox/machines.ts";

/** A real one would have been rotated. */
const MINUTES = 180;

/** An ERP of such a domain runs, and its log has a traceback. */
const FAILS = "fail-boot.";

export function writeErpLog(erp: SandboxErp, span: Span): string[] {
  const { erp_version, database_name, domain, database } = erp;
  const start = Date.parse(span.startedAt);
  const lines: string[] = [];
  const add = (at: number, ...text: string[]): void => {
    const time = new Date(at).toISOString();
    for (const line of text) lines.push(`${time.replace("Z", "000000Z")} ${line}`);
  };
  const log = (at: number, level: string, logger: string, message: string): void => {
    const database = logger === "odoo" ? "?" : database_name; // of the first lines, which come before it is known
    const time = new Date(at).toISOString().replace("T", " ").replace(".", ",").slice(0, -1);
    add(at, `${time} 1 ${level} ${database} ${logger}: ${message}`);
  };

  log(start, "INFO", "odoo", `Odoo version ${erp_version}`);
  log(start, "INFO", "odoo", "Using configuration file at /etc/odoo/odoo.conf");
  log(start + 4, "INFO", "odoo", "database: odoo@db:5432");
  log(start + 212, "INFO", "odoo.service.server", "HTTP service (werkzeug) running on 0.0.0.0:8069");
  log(start + 380, "INFO", "odoo.modules.loading", "loading 1 modules...");
  const modules = Object.keys(database?.modules ?? {}).length;
  log(start + 1_240, "INFO", "odoo.modules.loading", `${modules} modules loaded in 0.86s, 0 queries (+0 extra)`);
  if (domain.startsWith(FAILS)) {
    log(start + 1_301, "ERROR", "odoo.modules.registry", "Failed to load registry");
    add(start + 1_301, ...TRACEBACK);
  }
  log(start + 1_412, "INFO", "odoo.modules.registry", "Registry loaded in 1.204s");
  for (const at of minutesIn(erp, span)) {
    const minute = at / MINUTE_MS;
    log(at, "INFO", "werkzeug", `127.0.0.1 - - [${inCommonLog(at)}] "GET /web/health HTTP/1.1" 200 - 0 0.000 0.002`);
    if (minute % 10 === 0) {
      log(at + 40, "INFO", "odoo.addons.base.models.ir_cron", "Job 'Mail: Email Queue Manager' (3) starting");
      log(at + 71, "INFO", "odoo.addons.base.models.ir_cron", "Job 'Mail: Email Queue Manager' (3) done in 0.031s");
    }
    if (minute % 30 === 0)
      log(at + 90, "WARNING", "odoo.addons.mail.models.mail_mail", "Mail delivery is slow: 4.2s for 3 emails");
  }
  return lines;
}

const TRACEBACK = [
  "Traceback (most recent call last):",
  '  File "/usr/lib/python3/dist-packages/odoo/modules/registry.py", line 127, in new',
  "    odoo.modules.load_modules(registry, force_demo, status, update_module)",
  '  File "/usr/lib/python3/dist-packages/odoo/modules/loading.py", line 433, in load_modules',
  "    env['ir.model.data']._process_end(processed_modules)",
  "KeyError: 'ir.model.data'",
];

interface Span {
  startedAt: string;
  now: string;
}

/** The minutes of which there are lines. */
function minutesIn({ status }: SandboxErp, { startedAt, now }: Span): number[] {
  const start = Date.parse(startedAt);
  const end = status === "running" ? Date.parse(now) : start;
  const first = Math.ceil(Math.max(start + MINUTE_MS, end - MINUTES * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: Math.max(0, Math.floor((end - first) / MINUTE_MS) + 1) }, (_, index) => first + index * MINUTE_MS);
}

/** What the ERP's database server logs. */
export function writeDatabaseLog(erp: SandboxErp, span: Span): string[] {
  const line = (at: number, text: string): string => {
    const time = new Date(at).toISOString();
    return `${time.replace("Z", "000000Z")} ${time.replace("T", " ").slice(0, -1)} UTC [42] ${text}`;
  };
  const start = Date.parse(span.startedAt);
  const failing = erp.domain.startsWith(FAILS)
    ? [
        line(start + 1_300, 'ERROR:  column "brand" does not exist at character 8'),
        line(start + 1_300, "STATEMENT:  SELECT brand FROM product_template WHERE id = 7"),
      ]
    : [];
  return [
    line(start, "LOG:  starting PostgreSQL 16.11 on x86_64-pc-linux-gnu"),
    line(start + 90, "LOG:  database system is ready to accept connections"),
    ...failing,
    ...minutesIn(erp, span)
      .filter((at) => (at / MINUTE_MS) % 5 === 0)
      .map((at) => line(at + 200, "LOG:  checkpoint complete: wrote 41 buffers (0.3%); write=4.1 s, sync=0.01 s, total=4.2 s")),
  ];
}

/** A line for each request, as a machine's script makes it of the proxy's own. */
export const writeProxyLog = (erp: SandboxErp, span: Span): string[] =>
  minutesIn(erp, span).flatMap((at) => {
    const status = erp.domain.startsWith("many-errors.") && (at / MINUTE_MS) % 2 === 0 ? 500 : 200;
    return [
      `${new Date(at + 100).toISOString()} GET /web/login 200 47 6312 203.0.113.7`,
      `${new Date(at + 900).toISOString()} POST /web/dataset/call_kw ${status} 112 2048 203.0.113.7`,
    ];
  });

/** What a job has printed so far. One that has failed says why, as programs do. */
export function writeJobLog({ kind, ready_at, done }: SandboxJob): string {
  const lines = [`# ${kind}`, `Simulated: ${kind.replaceAll("_", " ")}`];
  if (done) lines.push("Done");
  else if (isReached(ready_at)) lines.push("Traceback (most recent call last):", "RuntimeError: the simulated work failed");
  return `${lines.join("\n")}\n`;
}

/** `26/Nov/2026 19:00:00` */
function inCommonLog(at: number): string {
  const [, weekday, day, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) (\S+)/.exec(new Date(at).toUTCString()) ?? [];
  return weekday === undefined ? "" : `${day}/${month}/${year} ${time}`;
}
