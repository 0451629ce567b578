// Which of the operator's own machines are taken: each is one server's at most.
import * as z from "zod";
import { timestamp } from "../api/fields.ts";
import { now } from "./change.ts";
import { keys } from "./keys.ts";
import { ConditionFailed, find, putIfAbsent, queryAll, remove, transact } from "./table.ts";

const TakenMachine = z.object({
  name: z.string(),
  /** It is the same machine when the operator has given it another name. */
  address: z.string().optional(),
  operation_id: z.string(),
  server_id: z.string(),
  account_id: z.string(),
  created_at: timestamp,
});
export type TakenMachine = z.infer<typeof TakenMachine>;

/** Whether it is now this server's, or has been. */
export async function takeMachine(name: string, taker: Omit<TakenMachine, "name" | "created_at">): Promise<boolean> {
  const { operation_id, server_id, account_id, address } = taker;
  const taken: TakenMachine = {
    name,
    operation_id,
    server_id,
    account_id,
    created_at: now(),
    ...(address !== undefined && { address }),
  };
  if (await putIfAbsent(keys.takenMachine(name), taken)) return true;
  return (await findTaken(name))?.server_id === server_id;
}

/** Another server that has taken it since keeps it. */
export async function freeMachine(name: string, serverId: string): Promise<void> {
  try {
    await transact([remove(keys.takenMachine(name), { equals: { server_id: serverId } })]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

export const findTaken = (name: string): Promise<TakenMachine | undefined> =>
  find({ key: keys.takenMachine(name), schema: TakenMachine });

export const takenMachines = async (): Promise<TakenMachine[]> =>
  z.array(TakenMachine).parse(await queryAll(keys.takenMachines(), { consistent: true }));
