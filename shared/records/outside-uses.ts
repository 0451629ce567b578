// Uses of API tokens from outside their networks. The authorizer, which may only update items, notes at most one in an hour for
// each token; the schedule of the outbox makes an event of it.
import * as z from "zod";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { queryAll, updateRaw } from "../data/table.ts";
import { count, mark, text, textOrNull } from "./schemas/fields.ts";
import { HOUR_MS } from "../domain/durations.ts";

const OutsideUse = z.object({
  account_id: text,
  token_id: text,
  ip_address: textOrNull,
  request_id: text,
  /** Milliseconds since 1970. */
  at: count,
  /** The event is written. */
  told: mark,
});
export type OutsideUse = z.infer<typeof OutsideUse>;

export async function recordOutsideUse({
  account_id,
  token_id,
  ip_address,
  request_id,
  at,
}: Omit<OutsideUse, "told">): Promise<void> {
  await updateRaw(keys.outsideUse(token_id), {
    UpdateExpression:
      "SET account_id = :account, token_id = :token, ip_address = :address, request_id = :request, #at = :at, #ttl = :ttl REMOVE told",
    ConditionExpression: "attribute_not_exists(#at) OR #at <= :edge",
    ExpressionAttributeNames: { "#at": "at", "#ttl": "ttl" },
    ExpressionAttributeValues: {
      ":account": account_id,
      ":token": token_id,
      ":address": ip_address,
      ":request": request_id,
      ":at": at,
      ":ttl": Math.ceil((at + 2 * HOUR_MS) / 1000),
      ":edge": at - HOUR_MS,
    },
  });
}

export const listOutsideUses = async (): Promise<OutsideUse[]> => parseEach(OutsideUse, await queryAll(keys.outsideUses()));
