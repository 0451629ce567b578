// An event as it is stored.
import * as z from "zod";
import { Event } from "../../api/events.ts";
import { stored } from "../../data/stored.ts";
import { listed, noText } from "./fields.ts";

const { shape } = stored(Event);

/** Without data, an event has no such attribute: earlier versions do not read null. */
export const EventRecord = z.object({ ...shape, ...listed, operation_id: noText, data: shape.data.default(null) });

export type EventRecord = z.infer<typeof EventRecord>;
