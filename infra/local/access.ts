// How other commands on this machine find the running service: a file beside its data, for its owner only.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { replaceFile } from "./durable.ts";
import { LocalError } from "./errors.ts";

export const DEFAULT_DATA_DIR = ".local";

const fileIn = (dataDir: string): string => join(dataDir, "access.json");

const Access = z.record(z.string(), z.string());

/** The environment variables with which an SDK, and the table's client, reach the service. */
export function writeAccess(dataDir: string, environment: Record<string, string>): void {
  replaceFile(fileIn(dataDir), JSON.stringify(environment, undefined, 2), { mode: 0o600 });
}

export const NOT_RUNNING =
  "The service is not running here: start it with `npm start`, or use --environment test|live for a deployment.";

export function readAccess(dataDir = DEFAULT_DATA_DIR): Record<string, string> {
  const access = accessIn(dataDir);
  if (access === undefined) throw new LocalError(NOT_RUNNING);
  return access;
}

/** Undefined also for a file that is damaged: the next start writes it anew. */
function accessIn(dataDir: string): Record<string, string> | undefined {
  const file = fileIn(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return Access.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** The environment of the service whose data is in a folder; undefined if none has been started there. */
export const readEnvironment = (dataDir: string): string | undefined => accessIn(dataDir)?.["ENVIRONMENT"];

/** Points this process at the service, and at nothing else that a shell may be set up for. */
export function useAccess(access: Record<string, string>): void {
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, access);
}
