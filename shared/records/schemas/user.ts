// A user as it is stored: what admits the requests of their sessions, and who they are.
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import { text, bytes, slots } from "./fields.ts";

/** What admits the requests of a user's sessions, and so is written by each of them. */
export const UserAccess = z.object({
  /** Changes with the password: no session is opened with one that is no longer the user's. */
  password: bytes,
  /** The tags of those that are open. */
  sessions: z.set(bytes).optional(),
  all: slots,
  create_delete: slots,
});

export type UserAccess = z.infer<typeof UserAccess>;

export const UserRecord = z.object({
  id: fields.id("user"),
  account_id: fields.id("account"),
  email: text,
  name: text,
  password_hash: text,
  created_at: fields.timestamp,
});

export type UserRecord = z.infer<typeof UserRecord>;
