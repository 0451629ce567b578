// The limits of requests that every credential has.
import type { RateClass } from "../api/endpoint.ts";
import { REQUEST_LIMITS, WINDOW_SECONDS } from "../domain/limits.ts";
import { freeSlots, type Limit } from "../data/slots.ts";

export const WINDOW_MS = WINDOW_SECONDS * 1000;
export const LIMITS: Record<RateClass, readonly Limit<RateClass>[]> = {
  all: [{ name: "all", slots: REQUEST_LIMITS.all }],
  create_delete: [
    { name: "create_delete", slots: REQUEST_LIMITS.create_delete },
    { name: "all", slots: REQUEST_LIMITS.all },
  ],
};
export const EVERY_LIMIT = LIMITS.create_delete;
export const everySlotFree = () => ({
  all: freeSlots(REQUEST_LIMITS.all),
  create_delete: freeSlots(REQUEST_LIMITS.create_delete),
});
