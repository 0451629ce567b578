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

export function readAccess(dataDir = DEFAULT_DATA_DIR): Record<string, string> {
  const file = fileIn(dataDir);
  if (!existsSync(file))
    throw new LocalError(
      "The service is not running here: start it with `npm start`, or use --environment test|live for a deployment.",
    );
  return Access.parse(JSON.parse(readFileSync(file, "utf8")));
}
