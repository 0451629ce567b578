// Which records have a label, outside the entries that searches read, so that these stay small whatever labels there are. A label
// has 64 items, in each of which five bytes of an ID say that a record of this part has it: 7 read units for 10,000 records.
// Members are added and removed in the transaction that changes the record, and doing so twice changes nothing.
import { createHash } from "node:crypto";
import type { Labels } from "../api/fields.ts";
import { bytesOfId, bytesOfShort } from "../domain/ids.ts";
import type { ResourceType } from "../domain/lifecycle.ts";
import { type Key, keys, keyString, type Item } from "./keys.ts";
import { queryAll } from "./table.ts";
import { update, type Write } from "./writes.ts";

/** A label as filters name it. */
export const labelsIn = (labels: Labels): string[] => Object.entries(labels).map(([key, value]) => `${key}:${value}`);

const PARTS = 64;
const MEMBER_BYTES = 5;

/**
 * The part of each label in which an ID is, and its member there: 46 random bits, so that two of 10,000 IDs are the same in one
 * account of a million.
 */
export function locate(bytes: Buffer): { part: string; member: Buffer } {
  const [random = 0] = bytes.subarray(8);
  return { part: String(random % PARTS).padStart(2, "0"), member: bytes.subarray(-MEMBER_BYTES) };
}

/** What identifies a label in keys, however long it is. */
const hashLabel = (label: string): string => createHash("sha256").update(label).digest("base64url").slice(0, 12);

/** Says that a record has a label. */
interface Member {
  key: Key;
  member: Buffer;
}

const readPart = (key: Key): string => key.sk.split("#")[1] ?? "";
const placeString = (part: string, member: Buffer): string => `${part}${member.toString("base64url")}`;
/** The same for all labels of one record, and for all records that have none of them. */
export const ownerString = (of: Member | { id: string }): string => {
  const { part, member } = "id" in of ? locate(bytesOfId(of.id)) : { part: readPart(of.key), member: of.member };
  return placeString(part, member);
};
export const memberString = ({ key, member }: Member): string => `${keyString(key)}${member.toString("base64url")}`;

/** What says that a record has its labels. */
export function buildMembers(kind: ResourceType, accountId: string, { id, labels }: { id: string; labels: Labels }): Member[] {
  const { part, member } = locate(bytesOfId(id));
  return labelsIn(labels).map((label) => ({ key: keys.label(kind, accountId, hashLabel(label), part), member }));
}

const MEMBERS = "m";

/** The labels that one change gives to records and takes from them. */
export function labelWrites(accountId: string) {
  const items = new Map<string, { key: Key; add: Set<Uint8Array>; take: Set<Uint8Array> }>();
  const note = (direction: "add" | "take", { key, member }: Member) => {
    const item = items.get(keyString(key)) ?? { key, add: new Set(), take: new Set() };
    items.set(keyString(key), item);
    item[direction].add(member);
  };
  return {
    move: (kind: ResourceType, id: string, from: Labels, to: Labels): void => {
      const after = buildMembers(kind, accountId, { id, labels: to });
      const stay = new Set(after.map(memberString));
      for (const each of buildMembers(kind, accountId, { id, labels: from }))
        if (!stay.has(memberString(each))) note("take", each);
      for (const each of after) note("add", each);
    },
    // DynamoDB adds to a set or takes from it, not both at once. What then stays is of a record that is gone, which nobody finds.
    writes: (): Write[] =>
      [...items.values()].map(({ key, add, take }) =>
        update(key, add.size > 0 ? { add: { [MEMBERS]: add } } : { take: { [MEMBERS]: take } }, { exists: false }),
      ),
  };
}

function membersIn(item: Item): Member[] {
  const key = { pk: String(item["pk"]), sk: String(item["sk"]) };
  const members = item[MEMBERS];
  if (!(members instanceof Set)) return [];
  return [...members].flatMap((member) => (member instanceof Uint8Array ? [{ key, member: Buffer.from(member) }] : []));
}

/** Whether a record, named by its short ID, has all of these labels. */
export async function readLabels(
  kind: ResourceType,
  accountId: string,
  labels: readonly string[],
): Promise<(short: string) => boolean> {
  const owners = await Promise.all(
    labels.map(async (label) => {
      const items = await queryAll(keys.labels(kind, accountId), { beginsWith: keys.labelParts(hashLabel(label)) });
      return new Set(items.flatMap(membersIn).map(ownerString));
    }),
  );
  return (short) => {
    const { part, member } = locate(bytesOfShort(short));
    const owner = placeString(part, member);
    return owners.every((all) => all.has(owner));
  };
}

/** What all labels of a kind say. */
export const readMembers = async (kind: ResourceType, accountId: string): Promise<Member[]> =>
  (await queryAll(keys.labels(kind, accountId), { consistent: true })).flatMap(membersIn);

export const takeMember = ({ key, member }: Member): Write =>
  update(key, { take: { [MEMBERS]: new Set([member]) } }, { exists: false });
