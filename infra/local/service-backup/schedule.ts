// Daily backups of the service that runs here, for as long as it runs: by the operator's own command, in a process of its own,
// because this one has been pointed at the local AWS.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../built.ts";
import { requirePassphrase } from "../../passphrase.ts";
import { parseStoreLocation } from "./store.ts";
import { HOUR_MS } from "../../../shared/domain/durations.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the function that begins them; undefined unless the operator's SERVICE_BACKUP_TO says where they go. The command does
 * nothing until the newest backup is a day old, tells what fails, and is run again an hour later.
 * @throws LocalError for settings that cannot work.
 */
export function dailyBackups(dataDir: string, { ...variables }: Variables): (() => void) | undefined {
  const { SERVICE_BACKUP_TO: to } = variables;
  if (!to) return undefined;
  requirePassphrase("SERVICE_BACKUP_PASSPHRASE", variables);
  parseStoreLocation(to);
  const args = [join(ROOT, "infra", "admin.ts"), "backup-service", "--daily", "--to", to, "--data", dataDir];
  let running = false;
  const begin = (): void => {
    if (running) return;
    running = true;
    const child = spawn(process.execPath, args, { env: variables, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", (error) => console.error(`The service could not be backed up: ${error.message}`));
    child.once("close", () => (running = false));
  };
  return () => {
    begin();
    setInterval(begin, HOUR_MS).unref();
  };
}
