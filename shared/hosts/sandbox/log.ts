// What a simulated ERP logs, in the format of a real one: how it started, and each minute what it is asked for.
import type { SandboxErp } from "../../providers/sandbox/machines.ts";

/** A real one would have been rotated. */
const MINUTES = 180;
const MINUTE_MS = 60_000;

/** An ERP of such a domain runs, and its log has a traceback. */
const FAILS = "fail-boot.";

export function writeErpLog(
  { erp_version, database_name, domain, status, database }: SandboxErp,
  { startedAt, now }: { startedAt: string; now: string },
): string[] {
  const start = Date.parse(startedAt);
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
  const end = status === "running" ? Date.parse(now) : start;
  const first = Math.max(start + MINUTE_MS, end - MINUTES * MINUTE_MS);
  for (let at = Math.ceil(first / MINUTE_MS) * MINUTE_MS; at <= end; at += MINUTE_MS) {
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

/** `26/Nov/2026 19:00:00` */
function inCommonLog(at: number): string {
  const [, weekday, day, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) (\S+)/.exec(new Date(at).toUTCString()) ?? [];
  return weekday === undefined ? "" : `${day}/${month}/${year} ${time}`;
}
