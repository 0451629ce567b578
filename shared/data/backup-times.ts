// The times of the instances' last backups, for the filter by them. They are outside the entries that searches read, in 64 items
// an account, each with the times of its part of the instances.
import { bytesOfId, bytesOfShort } from "../domain/ids.ts";
import { type Key, keys, keyString, type Item } from "./keys.ts";
import { locate } from "./label-index.ts";
import { encodeStamp, decodeStamp } from "./stamps.ts";
import { queryAll } from "./table.ts";
import { update, type Write } from "./writes.ts";

/** The item and its attribute that have an instance's time. */
function timeIn(accountId: string, bytes: Buffer): { key: Key; name: string } {
  const { part, member } = locate(bytes);
  return { key: keys.backupTimes(accountId, part), name: member.toString("base64url") };
}

/** The times that one change notes and forgets. */
export function backupTimeWrites(accountId: string) {
  const items = new Map<string, { key: Key; set: Item; remove: string[] }>();
  return {
    /** Null if the instance has no backup, or is gone. */
    note: (instanceId: string, at: string | null): void => {
      const { key, name } = timeIn(accountId, bytesOfId(instanceId));
      const item = items.get(keyString(key)) ?? { key, set: {}, remove: [] };
      items.set(keyString(key), item);
      if (at === null) item.remove.push(name);
      else item.set[name] = encodeStamp(Date.parse(at));
    },
    writes: (): Write[] => [...items.values()].map(({ key, set, remove }) => update(key, { set, remove }, { exists: false })),
  };
}

/** What is stored of an instance's time, and where. */
export const buildBackupTime = (accountId: string, instanceId: string, at: string) => ({
  ...timeIn(accountId, bytesOfId(instanceId)),
  stamp: encodeStamp(Date.parse(at)),
});

/** Notes the time of a record from before they were noted, unless a change has noted a newer one. */
export function fillBackupTime(accountId: string, instanceId: string, at: string): Write {
  const { key, name, stamp } = buildBackupTime(accountId, instanceId, at);
  return update(key, { fill: { [name]: stamp } }, { exists: false });
}

/** Reads when instances, named by their short IDs, were last backed up (ms since 1970); undefined for one that never was. */
export async function readBackupTimes(accountId: string): Promise<(short: string) => number | undefined> {
  const items = new Map((await queryAll(keys.backupTimes(accountId, "").pk)).map((item) => [keyString(item), item]));
  return (short) => {
    const { key, name } = timeIn(accountId, bytesOfShort(short));
    const stamp = items.get(keyString(key))?.[name];
    return stamp instanceof Uint8Array ? decodeStamp(stamp) : undefined;
  };
}
