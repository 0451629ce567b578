// The records of executions: a file each, replaced as a whole, so that a crash leaves the old or the new one.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { LocalError } from "../errors.ts";

export const Status = z.enum(["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]);
export const Execution = z.object({
  executionArn: z.string(),
  stateMachineArn: z.string(),
  name: z.string(),
  input: z.string(),
  status: Status,
  startDate: z.number(),
  stopDate: z.number().optional(),
  output: z.string().optional(),
  error: z.string().optional(),
  cause: z.string().optional(),
  /** Whether the event of its end was delivered: if this process dies before, the next one delivers it. */
  announced: z.boolean().default(false),
});
export type Execution = z.infer<typeof Execution>;
export type Outcome = Pick<Execution, "status" | "output" | "error" | "cause">;

export interface Records {
  load: () => Promise<Execution[]>;
  save: (record: Execution) => Promise<void>;
  remove: (arn: string) => Promise<void>;
}

export function recordsIn(directory: string | undefined): Records {
  if (directory === undefined) return { load: async () => [], save: async () => undefined, remove: async () => undefined };
  const recordFile = (arn: string): string =>
    join(directory, `${createHash("sha256").update(arn).digest("hex").slice(0, 32)}.json`);
  return {
    load: async () => {
      await mkdir(directory, { recursive: true });
      const files = (await readdir(directory)).filter((file) => file.endsWith(".json"));
      return Promise.all(
        files.map(async (file) => {
          const text = await readFile(join(directory, file), "utf8");
          try {
            return Execution.parse(JSON.parse(text));
          } catch (cause) {
            throw new LocalError(`${join(directory, file)} is no record of an execution: move it away`, { cause });
          }
        }),
      );
    },
    save: async (record) => {
      const file = recordFile(record.executionArn);
      await writeFile(`${file}.tmp`, JSON.stringify(record), { flush: true });
      await rename(`${file}.tmp`, file);
    },
    remove: (arn) => rm(recordFile(arn), { force: true }),
  };
}
