// What Stryker reports of a module, and what of it is counted.
import * as z from "zod";
import { type Explanation, survivors } from "./survivors.ts";

const Position = z.object({ line: z.number(), column: z.number() });
const Mutant = z.object({
  mutatorName: z.string(),
  replacement: z.string().default(""),
  status: z.string(),
  location: z.object({ start: Position, end: Position }),
});
export const Report = z.object({
  files: z.record(z.string(), z.object({ source: z.string(), mutants: z.array(Mutant) })),
});

/** A change that no test noticed. */
export interface Survivor {
  file: string;
  line: number;
  code: string;
  becomes: string;
  reason: string | undefined;
}

export interface Outcome {
  mutants: number;
  killed: number;
  survivors: Survivor[];
}

/** Excluded by configuration, or code that could not run at all. */
const ASIDE = new Set(["Ignored", "CompileError"]);
const NOTICED = new Set(["Killed", "Timeout", "RuntimeError"]);

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

export function outcomeOf({ files }: z.infer<typeof Report>): Outcome {
  const counted = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.filter(({ status }) => !ASIDE.has(status)).map((mutant) => ({ file, source, ...mutant })),
  );
  const survivingMutants = counted.filter(({ status }) => !NOTICED.has(status));
  return {
    mutants: counted.length,
    killed: counted.length - survivingMutants.length,
    survivors: survivingMutants.map(({ file, source, location, replacement }) => {
      const survivor = {
        file,
        line: location.start.line,
        code: oneLine(textAt(source, location)),
        becomes: oneLine(replacement),
      };
      return { ...survivor, reason: explanations.find((each) => isOf(each, survivor))?.reason };
    }),
  };
}

function textAt(source: string, { start, end }: z.infer<typeof Mutant>["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines.map((line, i) => line.slice(i === 0 ? start.column - 1 : 0, i === last ? end.column - 1 : undefined)).join("\n");
}

const explanations: readonly Explanation[] = survivors;

const isOf = (each: Explanation, { file, code, becomes }: Omit<Survivor, "line" | "reason">): boolean =>
  each.file === file && each.code === code && each.becomes === becomes;

/** Explanations of these files that explain nothing any more. */
export const staleIn = (files: readonly string[], survivors: readonly Survivor[]): Explanation[] =>
  explanations.filter((each) => files.includes(each.file) && !survivors.some((survivor) => isOf(each, survivor)));
