// The script on a machine: uploaded once per version, then called to start jobs, report on them and end them.
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import * as z from "zod";
import { log } from "../platform/log.ts";
import { GiveUp } from "../platform/task-errors.ts";
import type { MachineReport } from "../records/host-reports.ts";
import { because } from "../domain/reasons.ts";
import type { Sample } from "../domain/metrics.ts";
import type { WorkLog } from "../domain/log-lines.ts";
import { parseSamples, INSTANCES_MAX } from "./samples.ts";
import type { LogRequest, MachineSettings } from "./host.ts";
import { hostScript } from "./host-script.ts";
import type { CommandResult, Shell } from "./ssh-connection.ts";

const Json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: "custom", message: "is not JSON" });
    return z.NEVER;
  }
});

const JobStatus = z.discriminatedUnion("state", [
  /** `lost`: started, and dead without a result, as after a restart of the machine. */
  z.object({ state: z.enum(["unknown", "running", "lost"]) }),
  z.object({ state: z.literal("done"), answer: Json }),
  z.object({
    state: z.literal("failed"),
    code: z
      .enum([
        "HOST_JOB_FAILED",
        "BACKUP_CORRUPT",
        "STORAGE_ERROR",
        "CODE_UNREACHABLE",
        "CODE_INVALID",
        "BUILD_FAILED",
        "REHEARSAL_FAILED",
        "UPDATE_FAILED",
        "TIMEOUT",
      ])
      .catch("HOST_JOB_FAILED"),
    message: z.string(),
    /** The last lines of its log. */
    log: z.string().default(""),
  }),
]);
export type JobStatus = z.infer<typeof JobStatus>;

/** The ERP's users write the names: whatever is no name of a module is left out. */
const moduleNames = z.string().transform((text) => text.split("\n").filter((name) => /^[A-Za-z0-9_]{1,100}$/.test(name)));

const Health = z.object({
  healthy: z.enum(["yes", "no"]),
  reason: z.string().default(""),
  unfinished: moduleNames.default([]),
  modules: Json.optional(),
});

const byteCount = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/** The last second of the year 9999. */
const TIME_MAX = 253_402_300_799;

const ReportedCertificate = z
  .object({
    instance_id: z.string().regex(/^[a-z0-9_]{1,50}$/),
    domain: z.string().regex(/^[a-z0-9.-]{1,253}$/),
    /** Seconds since 1970; null if there is none. */
    expires_at: z.number().int().min(0).max(TIME_MAX).nullable(),
    failing: z.boolean(),
  })
  .transform(({ expires_at, ...rest }) => ({
    ...rest,
    expires_at: expires_at === null ? null : new Date(expires_at * 1000).toISOString(),
  }));

const bytes = z.number().int().min(0).max(1e15);
const ReportedUse = z.object({
  instance_id: z.string().regex(/^[a-z0-9_]{1,50}$/),
  used_bytes: bytes,
  quota_bytes: bytes.nullable(),
  paused: z.boolean(),
  /** Without it the rest counts all the same. */
  image: z
    .object({ id: z.string().regex(/^sha256:[0-9a-f]{64}$/), created_at: z.coerce.date().nullable().catch(null) })
    .transform(({ id, created_at }) => ({ id, created_at: created_at?.toISOString() ?? null }))
    .nullish()
    .catch(undefined),
});

/** The entries of a list that can be parsed: an odd one, such as of a folder that a person has made, costs nothing but itself. */
const listOf = <T>(schema: z.ZodType<T>) =>
  z
    .array(z.unknown())
    .max(INSTANCES_MAX)
    .transform((entries): T[] =>
      entries.flatMap((entry) => {
        const { success, data, error } = schema.safeParse(entry);
        if (success) return [data];
        const paths = error.issues.map(({ path }) => path.join(".")).join(", ");
        log.warn("an entry of a machine's report cannot be parsed and is left out", { places: paths });
        return [];
      }),
    );

const Report = z.object({
  disk_size_bytes: byteCount,
  disk_free_bytes: byteCount,
  instances: Json.pipe(listOf(ReportedUse)),
  memory_free_bytes: byteCount,
  needs_reboot: z.enum(["yes", "no"]).transform((word) => word === "yes"),
  certificates: Json.pipe(listOf(ReportedCertificate)).optional(),
  /** Checked apart: they are no reason to do without the rest. */
  figures: z.string().optional(),
  /** Its timer's line about its ERPs. */
  line: z.string().optional(),
});

/** A machine could send a little that becomes very much. */
const LOG_CHARACTERS_MAX = 4_000_000;

const Packed = z.string().transform((packed, context): string => {
  try {
    return gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: LOG_CHARACTERS_MAX }).toString("utf8");
  } catch {
    context.addIssue({ code: "custom", message: "is not compressed text" });
    return z.NEVER;
  }
});

const Log = z.object({ installed: z.literal("no").optional(), lines: Packed.optional() });

const LineCount = z.coerce.number().int().min(0).max(1e9).catch(0);

export type JobParameters = Readonly<Record<string, string>>;

export interface Machine {
  status: (jobId: string) => Promise<JobStatus>;
  /** Begins a job; only reports on one that already exists, and starts a lost one again. */
  begin: (job: { id: string; kind: string; minutes: number }, parameters: JobParameters) => Promise<JobStatus>;
  /** Kills it if it runs. One that never started cannot start any more. */
  end: (jobId: string) => Promise<JobStatus>;
  health: (instanceId: string) => Promise<{ healthy: boolean; reason: string; unfinished: string[]; modules?: unknown }>;
  /** Undefined without an ERP. */
  readLog: (request: LogRequest) => Promise<string | undefined>;
  readWorkLog: (operationId: string) => Promise<WorkLog>;
  /** Returns the report, without certificates if the machine's proxy does not respond. */
  report: (since: number) => Promise<{ report: MachineReport; samples: Sample[]; line?: string | undefined }>;
  set: (settings: MachineSettings) => Promise<void>;
}

/** Waits until everything that the job started has ended, which may include stopping an ERP properly. */
const ENDING = { seconds: 180 };

export function createMachine(shell: Shell): Machine {
  const ask = async (words: readonly string[], input?: string, limit?: { seconds: number }) =>
    parseFields(await runScript((command, text) => shell(command, text, limit), words, input));
  return {
    status: async (jobId) => JobStatus.parse(await ask(["status", jobId])),
    begin: async ({ id, kind, minutes }, parameters) =>
      JobStatus.parse(await ask(["begin", id, kind, String(minutes * 60)], serialize(parameters))),
    end: async (jobId) => JobStatus.parse(await ask(["end", jobId], "", ENDING)),
    health: async (instanceId) => {
      const { healthy, ...rest } = Health.parse(await ask(["health", instanceId]));
      return { healthy: healthy === "yes", ...rest };
    },
    readLog: async ({ instance_id, source, since = "-", until = "-" }) => {
      const { installed, lines } = Log.parse(await ask(["logs", instance_id, source, since, until]));
      return installed === "no" ? undefined : z.string().parse(lines);
    },
    readWorkLog: async (operationId) => {
      const sent = z.string().parse(Log.parse(await ask(["work_log", operationId])).lines);
      const end = sent.lastIndexOf("\n", sent.length - 2) + 1;
      return { text: sent.slice(0, end), lines: LineCount.parse(sent.slice(end)) };
    },
    report: async (since) => {
      const { certificates, instances, figures = "", line, ...free } = Report.parse(await ask(["report", String(since)]));
      const samples = parseSamples(Packed.safeParse(figures).data ?? "", Math.floor(Date.now() / 1000));
      return { report: { ...free, certificates, uses: instances }, samples, line };
    },
    set: async ({ quotas, endedRedirects }) => {
      const lines = [
        ...[...quotas].map(([instanceId, quota]) => `${instanceId} ${quota}`),
        ...[...endedRedirects].map((domain) => `ended ${domain}`),
      ];
      await ask(["settings"], [...lines, "END", ""].join("\n"));
    },
  };
}

/** One per line. The last line shows that nothing was cut off. */
const serialize = (parameters: JobParameters): string =>
  [...Object.entries(parameters).map(([name, value]) => `${name}=${Buffer.from(value).toString("base64")}`), "END=", ""].join(
    "\n",
  );

/** Free text is in base64. */
const ENCODED: ReadonlySet<string> = new Set([
  "answer",
  "message",
  "log",
  "reason",
  "unfinished",
  "modules",
  "certificates",
  "instances",
  "line",
]);

function parseFields(output: string): Record<string, string> {
  const pairs = output
    .split("\n")
    .filter((line) => line.includes("="))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, ENCODED.has(name) ? Buffer.from(value, "base64").toString("utf8") : value]),
  );
}

/** The shell's exit code for a missing script. */
const NOT_FOUND = 127;

async function runScript(shell: Shell, words: readonly string[], input?: string): Promise<string> {
  const { text, hash } = script();
  // Tests use another folder.
  const folder = '"${ERP_HOSTING_ROOT:-/var/lib/erp-hosting}"';
  const path = `${folder}/script-${hash.slice(0, 16)}.sh`;
  const command = ["bash", path, ...words].join(" ");
  const first = await shell(command, input);
  if (first.code !== NOT_FOUND) return requireOutput(first);
  // Renamed only once it is complete: a connection may break in the middle.
  const draft = `${path}.$$`;
  const hashCheck = `echo "${hash}  "${draft} | sha256sum --check --status`;
  requireOutput(await shell(`umask 077 && mkdir -p ${folder} && cat > ${draft} && ${hashCheck} && mv ${draft} ${path}`, text));
  return requireOutput(await shell(command, input));
}

let cached: { text: string; hash: string } | undefined;

function script(): { text: string; hash: string } {
  const text = cached?.text ?? hostScript();
  return (cached ??= { text, hash: createHash("sha256").update(text).digest("hex") });
}

const STDERR_CHARACTERS = 300;

/** The script exits with 0 whatever the outcome of the job. */
function requireOutput({ code, output, stderr }: CommandResult): string {
  if (code === 0) return output;
  const errorText = stderr.trim().slice(-STDERR_CHARACTERS);
  const explanation = errorText === "" ? because("script_ended", { status: code }) : errorText;
  throw new GiveUp("HOST_JOB_FAILED", because("script_failed", { output: explanation }));
}
