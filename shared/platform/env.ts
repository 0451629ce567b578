// A function's environment variables, read once and checked on first use.
import * as z from "zod";
import { type Environment, ENVIRONMENTS } from "../domain/environments.ts";

const Common = z.object({ TABLE_NAME: z.string().min(1), ENVIRONMENT: z.enum(ENVIRONMENTS) });
let parsed: z.infer<typeof Common> | undefined;

/** Throws a plain error if the deployment lacks a variable: that is a fault of ours, not of a request. */
export function env() {
  parsed ??= Common.parse(process.env);
  return parsed;
}

/** Chooses the value for the current environment. */
export const chooseByEnvironment = <T>(choices: Readonly<Record<Environment, () => T>>): T => choices[env().ENVIRONMENT]();

/** A variable that only some functions have, such as the bucket of backups or a state machine's ARN. */
export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`The environment variable ${name} is not set`);
  return value;
}

/** Set by the bundler from package.json. */
declare const SERVICE_VERSION: string;
export const version = (): string => (typeof SERVICE_VERSION === "string" ? SERVICE_VERSION : "development");

/** Only the health check's function has it: no other changes with every commit. */
export const commit = (): string | null => process.env["COMMIT"] ?? null;
