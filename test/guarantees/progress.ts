// What `npm run prove` asks of one guarantee's file, and what that reports, in files outside of git.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";

/** The environment variable that holds the order. */
export const ORDER = "PROVE_ORDER";

export const Order = z.object({
  seed: z.number(),
  trials: z.number(),
  /** The only trial that runs, if there is one. */
  trial: z.number().optional(),
  /** The text that is in the names of the points that run. */
  points: z.string(),
  /** The file that stores the progress. */
  file: z.string(),
  /** What is being proven: a hash of the product's files. */
  sources: z.string(),
});
export type Order = z.infer<typeof Order>;

export const Progress = z.object({
  name: z.string(),
  seed: z.number(),
  /** Trials that the run is to make, and that it has made; `counted` is what the table shows. */
  trials: z.number(),
  done: z.number(),
  counted: z.number(),
  points: z.array(z.string()),
  violations: z.number(),
  messages: z.array(z.string()),
  seconds: z.number(),
  sources: z.string(),
  ended: z.boolean(),
});
export type Progress = z.infer<typeof Progress>;

export const progressIn = (file: string): Progress | undefined =>
  existsSync(file) ? Progress.parse(JSON.parse(readFileSync(file, "utf8"))) : undefined;

/** A run that is killed while it writes keeps what it had. */
export function save(file: string, progress: Progress): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(progress));
  renameSync(`${file}.new`, file);
}
