// An entry of the audit log as it is stored.
import * as z from "zod";
import { Event } from "../../api/events.ts";
import { stored } from "../../data/stored.ts";
import { listed } from "./fields.ts";

export const EventRecord = stored(Event).extend(listed);

export type EventRecord = z.infer<typeof EventRecord>;
