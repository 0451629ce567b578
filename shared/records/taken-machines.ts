// Which of the operator's own machines are in use, each by one server at most, and which account had each last: whoever had a
// server was root there, so another account gets the machine only once the operator has released it.
import * as z from "zod";
import { conflict, notFound } from "../api/errors.ts";
import * as fields from "../api/fields.ts";
import { now } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { ConditionFailed, find, putIfAbsent, queryAll, transact, updateOne } from "../data/table.ts";
import { remove } from "../data/writes.ts";

const TakenMachine = z.object({
  name: z.string(),
  /** It is the same machine when the operator has given it another name. */
  address: z.string().optional(),
  operation_id: z.string(),
  server_id: z.string(),
  account_id: z.string(),
  created_at: fields.timestamp,
  /** The time when the server gave it back: it is free for its account since. */
  freed_at: fields.timestamp.optional(),
});
type TakenMachine = z.infer<typeof TakenMachine>;
type Taker = Omit<TakenMachine, "name" | "created_at" | "freed_at">;

/** `taken`: it is now this server's, or has been. */
export type Taking = "taken" | "in use" | "another account's before";

export async function takeMachine(name: string, taker: Taker): Promise<Taking> {
  const newRecord = toTakenMachine(name, taker);
  const all = await allMachines();
  const sameMachine = all.filter((each) => each.name === name || (taker.address !== undefined && each.address === taker.address));
  if (sameMachine.some((each) => each.freed_at === undefined && each.name !== name)) return "in use";
  if (sameMachine.some((each) => each.freed_at !== undefined && each.account_id !== taker.account_id))
    return "another account's before";
  if (await putIfAbsent(keys.takenMachine(name), newRecord)) return "taken";
  const current = sameMachine.find((each) => each.name === name);
  if (current?.freed_at !== undefined) {
    const { server_id, freed_at } = current;
    // A server takes a machine once: a late run of a creation that was given up does not take it again.
    if (server_id === taker.server_id) return "in use";
    const { name: _, ...set } = newRecord;
    const { done } = await updateOne(keys.takenMachine(name), { set, remove: ["freed_at"] }, { equals: { server_id, freed_at } });
    return done ? "taken" : "in use";
  }
  return (await findTaken(name))?.server_id === taker.server_id ? "taken" : "in use";
}

const toTakenMachine = (name: string, { operation_id, server_id, account_id, address }: Taker): TakenMachine => ({
  name,
  operation_id,
  server_id,
  account_id,
  created_at: now(),
  ...(address !== undefined && { address }),
});

/** Another server that has taken it since keeps it. */
export const freeMachine = async (name: string, serverId: string): Promise<void> =>
  void (await updateOne(
    keys.takenMachine(name),
    { set: { freed_at: now() } },
    { equals: { server_id: serverId }, none: ["freed_at"] },
  ));

/** The operator has reinstalled the machine: any account can use it. */
export async function releaseMachine(name: string): Promise<void> {
  const all = await allMachines();
  const machine = all.find((each) => each.name === name);
  if (machine === undefined) throw notFound("machine");
  for (const { name: each, address, server_id, freed_at } of all) {
    if (each !== name && (address === undefined || address !== machine.address)) continue;
    if (freed_at === undefined) throw inUse(server_id);
    try {
      await transact([remove(keys.takenMachine(each), { equals: { server_id, freed_at } })]);
    } catch (error) {
      throw error instanceof ConditionFailed ? inUse(server_id) : error;
    }
  }
}

const inUse = (serverId: string): Error =>
  conflict("A server has the machine; delete it first", { resource: "server", id: serverId });

export async function findTaken(name: string): Promise<TakenMachine | undefined> {
  const machine = await find({ key: keys.takenMachine(name), schema: TakenMachine });
  return machine?.freed_at === undefined ? machine : undefined;
}

export const takenMachines = async (): Promise<TakenMachine[]> =>
  (await allMachines()).filter(({ freed_at }) => freed_at === undefined);

const allMachines = async (): Promise<TakenMachine[]> =>
  parseEach(TakenMachine, await queryAll(keys.takenMachines(), { consistent: true }));
