// GET /operations/:id/log
import { setTimeout as sleep } from "node:timers/promises";
import * as operations from "../../shared/api/operations.ts";
import { isOpen } from "../../shared/domain/lifecycle.ts";
import { workBehind } from "../../shared/domain/log-positions.ts";
import { withinLogLimits } from "../../shared/operations/log-reads.ts";
import { find } from "../../shared/data/table.ts";
import { instanceRef } from "../../shared/records/instances.ts";
import { getOperation, permissionsToRead } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { serverRef } from "../../shared/records/servers.ts";
import { findWorkLog } from "../../shared/records/work-logs.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";
import { readWorkLog } from "../../shared/runtime/read-log.ts";
import { waiting } from "../../shared/runtime/waiting.ts";

/** Between two looks at work that is followed: each signs in to the server. */
const LOOK_SECONDS = 4;

export const handler = handle(operations.log)(({ params: { id }, query: { after = "0", follow }, caller, isHead }) =>
  waiting(caller, follow, async (seconds) => {
    const operation = await getOperation(caller.account_id, id);
    if (operation.created_by.id !== caller.id)
      for (const permission of permissionsToRead(operation)) requirePermission(caller, permission);
    const from = Number(after);
    if (isHead || !isOpen(operation.state)) return stored(operation, from);
    return withinLogLimits(operation, async () => {
      const until = Date.now() + seconds * 1000;
      let found = await running(operation, from);
      while (found.text === "" && Date.now() + LOOK_SECONDS * 1000 <= until) {
        await sleep(LOOK_SECONDS * 1000);
        const now = await getOperation(caller.account_id, id);
        if (!isOpen(now.state)) return stored(now, from);
        found = await running(now, from);
      }
      return found;
    });
  }),
);

interface Found {
  text: string;
  next: string;
  ended: boolean;
}

/** What has ended keeps its text. */
async function stored(operation: OperationRecord, from: number): Promise<Found> {
  return { ...workBehind(await findWorkLog(operation), from), ended: true };
}

async function running(operation: OperationRecord, from: number): Promise<Found> {
  const server = await serverOf(operation);
  if (server === undefined) return { text: "", next: String(from), ended: false };
  const { id, machine_id, ip_address, ssh_port, host_keys } = server;
  const { account_id, id: operation_id } = operation;
  const [instance_id, backup_id] = [idIn(operation, "instance_id"), idIn(operation, "backup_id")];
  const on = { id, machine_id, ip_address, ssh_port, host_keys };
  const text = await readWorkLog({ account_id, operation_id, instance_id, backup_id, server: on });
  return { ...workBehind(text, from), ended: false };
}

/** Where the operation's jobs run; undefined as long as there is no machine. */
async function serverOf(operation: OperationRecord): Promise<ServerRecord | undefined> {
  const { account_id } = operation;
  const instance = idIn(operation, "instance_id");
  const of = instance === undefined ? undefined : await find(instanceRef(account_id, instance));
  const id = idIn(operation, "server_id") ?? of?.server_id;
  const found = id === undefined ? undefined : await find(serverRef(account_id, id));
  return found?.ip_address == null ? undefined : found;
}

function idIn({ input }: OperationRecord, name: "server_id" | "instance_id" | "backup_id"): string | undefined {
  const id = input[name];
  return typeof id === "string" ? id : undefined;
}
