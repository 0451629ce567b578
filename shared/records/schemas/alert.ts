// An alert as it is stored.
import * as z from "zod";
import { Alert } from "../../api/alerts.ts";
import type { AlertStatus } from "../../domain/alerts.ts";
import { openEnum, stored } from "../../data/stored.ts";
import { count, listed, maybeText, text } from "./fields.ts";

export const AlertRecord = stored(Alert.omit({ status: true })).extend({
  ...listed,
  state: openEnum<AlertStatus>(),
  /** What distinguishes it from others of its resource and kind: its threshold, or the type of the operation that has failed. */
  step: text,
  created_at: text,
});
export type AlertRecord = z.infer<typeof AlertRecord>;

/** That an alert is open: what finding and closing it takes. */
export const OpenAlert = z.object({
  alert_id: text,
  resource_id: text,
  kind: text,
  step: text,
  threshold: count.nullable(),
  /** The server whose reports it follows, of an instance's. */
  server_id: maybeText,
  opened_at: text,
});
export type OpenAlert = z.infer<typeof OpenAlert>;
