// How large each function's bundle may be: what was committed, and 5 % more.
import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";
import { inThisFolder } from "./golden.ts";

export const BUNDLES = "bundles.json";
const GROWTH_MAX = 1.05;

/** Bytes by the function's ID. */
export function knownSizes(): Record<string, number> {
  const file = inThisFolder(BUNDLES);
  return existsSync(file) ? z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(file, "utf8"))) : {};
}

export const hasGrown = (before: number, bytes: number): boolean => bytes > before * GROWTH_MAX;
