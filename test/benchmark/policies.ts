// A night of backup policies, simulated: all are due at the same time, the schedule function runs each minute of a driven clock,
// and the backups that it starts end after five minutes. The code is the product's; what a backup does on its server is left out.
import { addResult, beginOperation, findOperation, showProgress } from "../../shared/records/operations.ts";
import { endOperation } from "../../shared/operations/work/operation-ends.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { recordArchive } from "../../shared/records/backups.ts";
import { type Change, startChange } from "../../shared/data/change.ts";

import { createAccount } from "../../shared/operations/accounts/operator.ts";
import { savePolicy } from "../../shared/records/policies.ts";
import { BackupRecord } from "../../shared/records/schemas/backup.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { ServerRecord } from "../../shared/records/schemas/server.ts";
import { newId } from "../../shared/domain/ids.ts";
import { SERVER_PHASES, WORKFLOW_NAMES } from "../../shared/domain/lifecycle.ts";
import { machineVariable } from "../../shared/domain/workflow.ts";
import { concurrently } from "../../shared/platform/concurrently.ts";
import { BEGUN_PER_SECOND, handler } from "../../functions/schedules/run-policies.ts";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Database } from "../../infra/local/dynamodb/dynamodb.ts";
import { driveClock } from "../../infra/local/lambda/clock.mjs";
import { backupFields, instanceFields, serverFields } from "../harness/seed.ts";
import { type Spent, startMetered } from "./metered.ts";

export interface Night {
  accounts: number;
  serversOfAccount: number;
  instancesOfServer: number;
  /** Scheduled backups that each instance has; the policies keep as many, so that each run removes one. */
  backupsOfInstance: number;
  backupMinutes: number;
  /** One in so many operations is carried out and counted in full; of the others only the end of the backup is. */
  sample: number;
}

/** What happened in one minute. */
export interface Minute {
  began: number;
  deletions: number;
  /** The schedule function's calls. */
  calls: number;
  spent: Spent[];
  /** What the operations' tasks spent. */
  work: Spent[];
}

export interface Simulated {
  minutes: Minute[];
  /** Minutes from the due time to the start of each instance's backup. */
  starts: Map<string, number[]>;
  /** The most backups that ran on one server at a time. */
  atOnce: number;
  /** A minute in which nothing was due. */
  idle: Minute;
}

/** Every second operation that is begun is followed by a save of its policy. */
const TRANSACTIONS_PER_SECOND = 1.5 * BEGUN_PER_SECOND;

const DUE = "2027-01-12T02:00:00.000Z";
/** All of a night's runs have started by then. */
const MINUTES_MIN = 20;
const DAY_MS = 86_400_000;
const minutesAfterDue = (minutes: number): number => Date.parse(DUE) + minutes * 60_000;

export async function simulate(
  database: Database,
  table: { name: string; properties: unknown },
  night: Night,
  report: (line: string) => void = () => undefined,
): Promise<Simulated> {
  const shared = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const [ahead, machines] = [new Float64Array(shared), globalThis.Date];
  driveClock(shared);
  const setClock = (at: number): void => void (ahead[0] = (ahead[0] ?? 0) + at - Date.now());
  // This machine does everything itself, so a minute here is as long as it takes: its clock runs at a tenth of the speed.
  const slower = setInterval(() => void (ahead[0] = (ahead[0] ?? 0) - 45), 50);
  const metered = await startMetered(database, table, TRANSACTIONS_PER_SECOND);
  Object.assign(process.env, environmentOf(metered.url, table.name));
  try {
    setClock(minutesAfterDue(-60));
    await seed(metered.url, table.name, night);
    const minuteOf = async (at: number): Promise<Minute & { started: ReturnType<typeof metered.take>["started"] }> => {
      setClock(minutesAfterDue(at));
      metered.take();
      // On a busy machine DynamoDB Local may not respond in time; the next run continues with what is left.
      await handler().catch((error: unknown) => report(causesOf(error).join("; ")));
      const { started, calls, spent } = metered.take();
      const [backups, deletions] = [started.filter(isBackup), started.filter((each) => !isBackup(each))];
      return { began: backups.length, deletions: deletions.length, calls, spent, work: [], started };
    };
    const idle = await minuteOf(-30);
    const result: Simulated = { minutes: [], starts: new Map(), atOnce: 0, idle };
    const running = new Map<number, Ended[]>(); // by the minute in which they end
    const onServer = new Map<string, number>();
    for (let minute = 0; minute < 240; minute++) {
      const run = await minuteOf(minute);
      const ends = minute + night.backupMinutes;
      for (const { name, input } of run.started.filter(isBackup)) {
        const [account, id] = [String(input["account_id"]), String(input["instance_id"])];
        const server = serverOf.get(id) ?? "";
        result.starts.set(id, [...(result.starts.get(id) ?? []), minute]);
        running.set(ends, [...(running.get(ends) ?? []), { account, name, instance: { server } }]);
        onServer.set(server, (onServer.get(server) ?? 0) + 1);
        result.atOnce = Math.max(result.atOnce, onServer.get(server) ?? 0);
      }
      // Between this minute's run and the next one's.
      setClock(minutesAfterDue(minute + 0.9));
      const removed = run.started
        .filter((each) => !isBackup(each))
        .map(({ name, input }): Ended => ({ account: String(input["account_id"]), name, instance: undefined }));
      const ended = [...removed, ...(running.get(minute + 1) ?? [])];
      for (const { instance } of ended)
        if (instance !== undefined) onServer.set(instance.server, (onServer.get(instance.server) ?? 0) - 1);
      const sampled = ended.filter((_, place) => place % night.sample === 0);
      await concurrently(10, sampled, (each) => carryOut(each, true));
      const work = metered.take().spent;
      metered.count(false);
      await concurrently(
        20,
        ended.filter((each) => each.instance !== undefined && !sampled.includes(each)),
        (each) => carryOut(each, false),
      );
      metered.count(true);
      result.minutes.push({ ...run, work: timesOf(work, sampled.length === 0 ? 0 : ended.length / sampled.length) });
      report(`Minute ${minute}: ${run.began} backups and ${run.deletions} deletions begun`);
      if (minute > MINUTES_MIN && run.calls <= idle.calls && [...running.keys()].every((end) => end <= minute + 1)) break;
    }
    return result;
  } finally {
    clearInterval(slower);
    globalThis.Date = machines;
    await metered.stop();
  }
}

/** The errors in an error, each with how often it is there. */
function causesOf(error: unknown): string[] {
  const leaves = (each: unknown): unknown[] => (each instanceof AggregateError ? each.errors.flatMap(leaves) : [each]);
  return [...Map.groupBy(leaves(error), String)].map(([text, { length }]) => `${length} × ${text}`);
}

/** An operation that ends; `instance` is that of a backup. */
interface Ended {
  account: string;
  name: string;
  instance: { server: string } | undefined;
}

const timesOf = (spent: readonly Spent[], times: number): Spent[] =>
  spent.map((each) => ({ ...each, writes: each.writes * times, reads: each.reads * times }));

const isBackup = ({ machine }: { machine: string }): boolean => machine.endsWith("create-backup");
const serverOf = new Map<string, string>();

const environmentOf = (url: string, table: string): Record<string, string> => ({
  TABLE_NAME: table,
  ENVIRONMENT: "live",
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "local",
  AWS_SECRET_ACCESS_KEY: "local",
  AWS_ENDPOINT_URL_DYNAMODB: url,
  AWS_ENDPOINT_URL_SFN: url,
  ...Object.fromEntries(
    WORKFLOW_NAMES.map((name) => [machineVariable(name), `arn:aws:states:eu-central-1:000000000000:stateMachine:${name}`]),
  ),
});

/** What the tasks of an operation write, from its begin to its end, or only its end. */
async function carryOut(ended: Ended, isWhole: boolean): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await carryOutOnce(ended, isWhole);
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

async function carryOutOnce({ account, name }: Ended, isWhole: boolean): Promise<void> {
  const operation = await findOperation(account, name);
  if (operation === undefined) throw new Error(`${name} was started, but is not stored`);
  if (isWhole) {
    await beginOperation(operation, { step: "Working", step_code: null, progress: 0 });
    const running = { ...operation, state: "running" as const };
    await showProgress(running, { step: "Checking", step_code: null, progress: 50 });
    if (operation.type === "backup.create") {
      const archive = {
        size_bytes: 1,
        sha256: "0".repeat(64),
        stored_checksum: "0".repeat(44),
        missing_files: 0,
        listed_files: 0,
        skipped_files: 0,
      };
      await recordArchive(running, operation.resource.id, archive);
      await addResult(running, {});
    }
  }
  const present = await findOperation(account, name);
  if (present !== undefined) await endOperation(present, { succeeded: true });
}

async function seed(url: string, table: string, night: Night): Promise<void> {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: url,
      region: "eu-central-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    }),
    { marshallOptions: { removeUndefinedValues: true } },
  );
  for (let n = 0; n < night.accounts; n++) {
    const email = `${newId("account")}@example.com`;
    const { account } = await createAccount(`Account ${n}`, { email, name: "Owner", password: "not-a-secret-1" });
    const change = startChange(await getAccount(account.id));
    for (let s = 0; s < night.serversOfAccount; s++) seedServer(change, night);
    const items = change.writes().flatMap(({ item }) => item.Put?.Item ?? []);
    for (let from = 0; from < items.length; from += 25)
      await client.send(
        new BatchWriteCommand({
          RequestItems: { [table]: items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } })) },
        }),
      );
    await concurrently(
      4,
      change.writes().filter(({ item }) => item.Put === undefined),
      async (write) => {
        const counted = startChange({ id: account.id });
        counted.write(write);
        await counted.commit();
      },
    );
  }
}

function seedServer(change: Change, { instancesOfServer, backupsOfInstance }: Night): void {
  const accountId = change.accountId;
  const server = newId("server");
  const fields = serverFields(accountId, server, change.number("server", server));
  change.add("server", ServerRecord.parse({ ...fields, instances: instancesOfServer }), { status: SERVER_PHASES.ready });
  for (let i = 0; i < instancesOfServer; i++) {
    const id = newId("instance");
    serverOf.set(id, server);
    const backups = Array.from({ length: backupsOfInstance }, (_, day) => {
      const at = new Date(Date.parse(DUE) - (backupsOfInstance - day) * DAY_MS).toISOString();
      const backup = newId("backup");
      const scheduledFields = {
        kind: "scheduled",
        due_at: at,
        attempt: 1,
        created_at: at,
        completed_at: at,
        retained_by: ["daily"],
      };
      const parent = { id, server_id: server, name: "Seeded shop" };
      return BackupRecord.parse({
        ...backupFields(accountId, backup, change.number("backup", backup), parent),
        ...scheduledFields,
      });
    });
    for (const backup of backups) change.add("backup", backup, { status: backup.state, parentId: id });
    const last = backups.at(-1);
    const number = change.number("instance", id);
    const instance = InstanceRecord.parse({
      ...instanceFields(accountId, id, number, server),
      protection_status: "protected",
      last_backup_id: last?.id ?? null,
      last_backup_at: last?.completed_at ?? null,
      last_backup_begun_at: last?.created_at ?? null,
      next_backup_at: DUE,
    });
    change.add("instance", instance, { status: instance.state, parentId: server, protection: instance.protection_status });
    const since = new Date(Date.parse(DUE) - 30 * DAY_MS).toISOString();
    savePolicy(change, undefined, {
      schedule: "0 2 * * *",
      timezone: "UTC",
      keep: { daily: backupsOfInstance },
      drill_every_days: null,
      enabled: true,
      account_id: accountId,
      instance_id: id,
      server_id: server,
      next_run_at: DUE,
      last_run: null,
      since,
      due: null,
      retain: false,
      overdue_at: new Date(Date.parse(DUE) + 2 * 3_600_000).toISOString(),
      drill_at: null,
    });
  }
}
